/** EventMQ client: encodes jobs, decodes results, and reads the id of our messages. */
import { EMPTY_FRAME, latin1 } from '@proj/frames';
import { emqpJobText, encodeEmqpJson } from '@proj/frames/emqp';
import { parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { Frame } from '@proj/transport';
import { emqpJob } from './options.js';
import type { EmqpJob } from './options.js';

/** Limit of the bytes of the frames besides the body: a queue, headers, an id. */
const BYTES_BESIDE_BODY = 1024;

/** Limit of a body's bytes in messages of this size. */
export function bodyMax(maxMessageBytes: number): number {
  return Math.max(0, maxMessageBytes - BYTES_BESIDE_BODY);
}

/**
 * The body of a job: bytes and text as given, an {@link EmqpJob} as EventMQ's own client writes it. Throws `OPTIONS_INVALID` or
 * `PROTOCOL_LOCAL`, beginning with `subject`, for an invalid or too large job.
 */
export function bodyOf(subject: string, job: EmqpJob | Frame, maxMessageBytes: number): Uint8Array {
  const frame = typeof job === 'string' || job instanceof Uint8Array ? job : write(subject, job);
  return toFrames(subject, frame, { frames: 1, bytes: bodyMax(maxMessageBytes) })[0] as Uint8Array;
}

/** The same for a body that must name its job: brokers silently drop schedules without one. */
export function namedBodyOf(subject: string, job: EmqpJob | Frame, maxMessageBytes: number): Uint8Array {
  const body = bodyOf(subject, job, maxMessageBytes);
  if (emqpJobText(body) !== undefined) return body;
  const text = `${subject}: the body names no job of at most 1 MiB; it needs callable and path`;
  throw new ProjError('PROTOCOL_LOCAL', text);
}

function write(subject: string, job: EmqpJob): string {
  const { path, callable, args, kwargs, classArgs, classKwargs } = parseOptions(`${subject}: job`, emqpJob, job);
  // In the order of EventMQ's own client: peers compare the parts, but people compare logs.
  const parts = { callable, path, args, kwargs, class_args: classArgs, class_kwargs: classKwargs };
  try {
    return encodeEmqpJson(JSON.parse(JSON.stringify(['run', parts])));
  } catch (cause) {
    throw new ProjError(
      'PROTOCOL_LOCAL',
      `${subject}: the job's arguments cannot be expressed in JSON; send plain data`,
      { cause },
    );
  }
}

/** The `x` of `{"value": x}`. Throws `PROTOCOL_REMOTE`, with the frame as `details.result`, for anything else. */
export function readResult(subject: string, frame: Uint8Array): unknown {
  const [result = Buffer.alloc(0)] = toBuffers([frame]);
  try {
    const parsed: unknown = JSON.parse(result.toString());
    if (typeof parsed === 'object' && parsed !== null && Object.hasOwn(parsed, 'value'))
      return (parsed as { value: unknown }).value;
  } catch {
    // Invalid JSON is not a result either: see below.
  }
  throw new ProjError('PROTOCOL_REMOTE', `${subject}: the result is not {"value": ...}; see details.result`, {
    details: { result },
  });
}

/** The id in the frames of our own messages. */
export function idOf(frames: readonly Uint8Array[]): string {
  return latin1(frames[3] ?? EMPTY_FRAME);
}
