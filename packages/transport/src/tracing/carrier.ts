/** Trace context on the wire: as items of a header (eMQP), or as a frame before a body. docs/TRACING.md. */
import { toFrames } from '../body.js';
import type { BodyInput, BodyLimits } from '../body.js';
import type { TracingCarrier } from './api.js';

/** Begins a trace frame. Its first byte never occurs in UTF-8, so neither text nor JSON begins like this. */
const MAGIC = '\xf5proj-trace/1\n';

/** A longer frame belongs to the application. */
const FRAME_MAX_BYTES = 8192;

/** Values that an eMQP header item can have: no commas or colons, because EventMQ looks for `timeout:` and `reply-requested` anywhere. */
const ITEM_NAMES = ['traceparent', 'b3'];
const ITEM = /^[0-9A-Za-z_-]{1,128}$/;

const PRINTABLE = /^[ -~]*$/;
const NAME = /^[!-9;-~]+$/;

/** The frame with this context; `undefined` if there is none. Omits entries that are not printable ASCII. */
function encodeTraceFrame(carrier: TracingCarrier): Uint8Array | undefined {
  const lines = Object.entries(carrier).filter(([name, value]) => NAME.test(name) && PRINTABLE.test(value));
  if (lines.length === 0) return undefined;
  const text = MAGIC + lines.map(([name, value]) => `${name}:${value}`).join('\n');
  return text.length > FRAME_MAX_BYTES ? undefined : Buffer.from(text, 'latin1');
}

/** As `toFrames`, with the trace frame in front; the limits apply to both together. */
export function toTracedFrames(
  subject: string,
  body: BodyInput,
  limits: BodyLimits,
  carrier: TracingCarrier | undefined,
): Uint8Array[] {
  const trace = carrier === undefined ? undefined : encodeTraceFrame(carrier);
  if (trace === undefined) return toFrames(subject, body, limits);
  const rest = { frames: limits.frames - 1, bytes: limits.bytes - trace.length };
  return [trace, ...toFrames(subject, body, rest)];
}

/** True for a frame made by {@link encodeTraceFrame}. Costs one comparison for any other. */
function isTraceFrame(frame: Uint8Array | undefined): boolean {
  if (frame?.[0] !== 0xf5 || frame.length > FRAME_MAX_BYTES || frame.length < MAGIC.length) return false;
  for (let at = 1; at < MAGIC.length; at++) if (frame[at] !== MAGIC.charCodeAt(at)) return false;
  return true;
}

/** The body without its trace frame; the same array if it has none. A body always keeps at least one frame. */
export function withoutTraceFrame<Frame extends Uint8Array>(body: readonly Frame[]): readonly Frame[] {
  return hasTraceFrame(body) ? body.slice(1) : body;
}

/** The context in a body's trace frame. */
export function carrierInBody(body: readonly Uint8Array[]): TracingCarrier | undefined {
  if (!hasTraceFrame(body)) return undefined;
  const [frame] = body as [Uint8Array];
  const text = Buffer.from(frame.buffer, frame.byteOffset, frame.length).toString('latin1');
  return entriesOf(text.slice(MAGIC.length).split('\n'));
}

/** The context as items of an eMQP header, `traceparent:00-...`; empty for none. Omits `tracestate` and baggage, which contain commas. */
export function encodeTraceItems(carrier: TracingCarrier): string {
  return ITEM_NAMES.flatMap((name) => {
    const value = carrier[name];
    return value !== undefined && ITEM.test(value) ? [`${name}:${value}`] : [];
  }).join(',');
}

/** All items of an eMQP header by name; the propagator picks its own. */
export function carrierInItems(header: Uint8Array): TracingCarrier | undefined {
  if (header.length === 0 || header.length > FRAME_MAX_BYTES) return undefined;
  return entriesOf(Buffer.from(header.buffer, header.byteOffset, header.length).toString('latin1').split(','));
}

/** The texts in a JSON object from a peer. */
export function carrierInJson(value: unknown): TracingCarrier | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

function hasTraceFrame(body: readonly Uint8Array[]): boolean {
  return isTraceFrame(body[0]) && body.length > 1;
}

function entriesOf(items: readonly string[]): TracingCarrier {
  // From a peer: `__proto__` becomes an ordinary entry.
  return Object.fromEntries(
    items.flatMap((item) => {
      const colon = item.indexOf(':');
      return colon > 0 ? [[item.slice(0, colon).trim().toLowerCase(), item.slice(colon + 1).trim()]] : [];
    }),
  );
}
