/** eMQP: fields that are text, in UTF-8, and JSON as Python prints it. */
import { latin1 } from '../bytes.js';
import { writeUtf8 } from '../slab.js';

const fromUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Longest queue name, in bytes. */
const NAME_MAX_BYTES = 255;

const LONE_SURROGATE = /\p{Surrogate}/u;
const BEYOND_PRINTABLE_ASCII = /[\u007f-\uffff]/g;

/** The text of a frame, or `undefined` if it is longer than `maxBytes`, which is checked first, or not UTF-8. */
export function readText(frame: Uint8Array, maxBytes: number): string | undefined {
  if (frame.length > maxBytes) return undefined;
  for (let i = 0; i < frame.length; i++) if ((frame[i] as number) > 0x7f) return decodeUtf8(frame);
  return latin1(frame);
}

function decodeUtf8(frame: Uint8Array): string | undefined {
  try {
    return fromUtf8.decode(frame);
  } catch {
    return undefined;
  }
}

/** The queue name in a frame, possibly empty; `undefined` if it is too long or not UTF-8. */
export function readName(frame: Uint8Array): string | undefined {
  return readText(frame, NAME_MAX_BYTES);
}

/** The frame of a queue's name; `undefined` unless it is 1 to 255 bytes of valid UTF-8. */
export function writeName(text: string): Uint8Array | undefined {
  if (text.length === 0 || text.length > NAME_MAX_BYTES || LONE_SURROGATE.test(text)) return undefined;
  const frame = writeUtf8(text);
  return frame.length <= NAME_MAX_BYTES ? frame : undefined;
}

/** True for what {@link writeName} can express. */
export function isName(text: string): boolean {
  return writeName(text) !== undefined;
}

/** Plain data, or maps with string keys, with the spacing and escapes of Python's `json.dumps`. Numbers and the order of keys are JavaScript's. */
export function pythonJson(value: unknown): string {
  if (typeof value === 'string') return pythonString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let json = '';
  // Loops and no closures: a listing holds thousands of values.
  if (Array.isArray(value)) {
    for (const entry of value) json += `${json === '' ? '' : ', '}${pythonJson(entry)}`;
    return `[${json}]`;
  }
  for (const [key, entry] of value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value))
    json += `${json === '' ? '' : ', '}${pythonString(key)}: ${pythonJson(entry)}`;
  return `{${json}}`;
}

/** A string literal in printable ASCII: everything else is escaped, one `\uXXXX` per UTF-16 unit. */
export function pythonString(text: string): string {
  return JSON.stringify(text).replace(
    BEYOND_PRINTABLE_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
