/**
 * eMQP, the headers of REQUEST, SCHEDULE and UNSCHEDULE: comma-separated items such as `guarantee,timeout:9`; names and booleans in any case.
 * Also accepts the specification's values (`guarantee:True`) and its "dictionary": `{"guarantee": true, "timeout": 9}`.
 */
import { fromLatin1, latin1 } from '../bytes.js';
import { readText } from './text.js';
import { HEADERS_MAX_BYTES } from './wire.js';

/** The content of the headers. */
export interface EmqpHeaders {
  /** The client wants the result. Default false. */
  readonly replyRequested: boolean;
  /** The job must be done, even if twice. Default false. */
  readonly guarantee: boolean;
  /** How often a failed job is repeated: 0 to 1000, default 0. */
  readonly retryCount: number;
  /** Seconds after which the job is killed: 0 to 604800; 0, the default, for the worker's own limit. */
  readonly timeoutSeconds: number;
  /** SCHEDULE: wait one interval before the first run. Default false. */
  readonly nohaste: boolean;
  /** SCHEDULE: end after this many runs, 1 to 2^31 - 1; `undefined`, the default, for never. */
  readonly runCount: number | undefined;
}

/** Headers as read from a frame. */
export interface EmqpReadHeaders extends EmqpHeaders {
  /** Invalid items, which were ignored; unknown ones are not counted. */
  readonly invalid: number;
}

type Range = readonly [min: number, max: number];

const RANGES: ReadonlyMap<string, Range> = new Map<string, Range>([
  ['retry-count', [0, 1000]],
  ['timeout', [0, 604_800]],
  ['run_count', [1, 2_147_483_647]],
]);

/** An escape could name a character that has no byte. */
const ASCII = /^[ -~]+$/;

const FLAGS: ReadonlySet<string> = new Set(['reply-requested', 'guarantee', 'nohaste']);

/** The values in the specification's table of headers, and in Python's output. */
const TRUTH: ReadonlyMap<string | undefined, boolean> = new Map([
  [undefined, true],
  ['true', true],
  ['false', false],
]);

const NO_HEADERS: EmqpReadHeaders = {
  replyRequested: false,
  guarantee: false,
  retryCount: 0,
  timeoutSeconds: 0,
  nohaste: false,
  runCount: undefined,
  invalid: 0,
};

/** Decodes a header frame of any bytes. If an item occurs twice, the last valid one counts. Never throws. */
export function decodeEmqpHeaders(frame: Uint8Array): EmqpReadHeaders {
  if (frame.length === 0) return NO_HEADERS;
  const flags = new Set<string>();
  const numbers = new Map<string, number>();
  let invalid = frame.length > HEADERS_MAX_BYTES ? 1 : 0;
  for (const item of itemsOf(frame)) {
    const [name, value] = split(item);
    const range = RANGES.get(name);
    const truth = FLAGS.has(name) ? TRUTH.get(value?.toLowerCase()) : undefined;
    if (truth === true) {
      flags.add(name);
    } else if (truth === false) {
      flags.delete(name);
    } else if (range !== undefined || FLAGS.has(name)) {
      const number = range === undefined ? undefined : readNumber(value, range);
      if (number === undefined) invalid++;
      else numbers.set(name, number);
    } else if (readText(fromLatin1(item), HEADERS_MAX_BYTES) === undefined) {
      invalid++;
    }
  }
  return {
    replyRequested: flags.has('reply-requested'),
    guarantee: flags.has('guarantee'),
    retryCount: numbers.get('retry-count') ?? 0,
    timeoutSeconds: numbers.get('timeout') ?? 0,
    nohaste: flags.has('nohaste'),
    runCount: numbers.get('run_count'),
    invalid,
  };
}

/** The header frame for these settings, in the product's order. Throws a `RangeError` for a number out of range. */
export function encodeEmqpHeaders(headers: Partial<EmqpHeaders>): Uint8Array {
  const { replyRequested, guarantee, retryCount = 0, timeoutSeconds = 0, nohaste, runCount } = headers;
  const items: string[] = [];
  if (replyRequested === true) items.push('reply-requested');
  if (guarantee === true) items.push('guarantee');
  if (retryCount !== 0) items.push(numbered('retry-count', retryCount));
  if (timeoutSeconds !== 0) items.push(numbered('timeout', timeoutSeconds));
  if (nohaste === true) items.push('nohaste');
  if (runCount !== undefined) items.push(numbered('run_count', runCount));
  return fromLatin1(items.join(','));
}

/** Removes `interval:N` of a seven-frame SCHEDULE from its headers; the interval is `undefined` if there is none. */
export function takeInterval(frame: Uint8Array): { headers: Uint8Array; interval: string | undefined } {
  let interval: string | undefined;
  const others = itemsOf(frame).filter((item) => {
    const [name, value] = split(item);
    if (name !== 'interval') return true;
    if (value !== undefined && /^\d{1,10}$/.test(value)) interval = value;
    return false;
  });
  return { headers: fromLatin1(others.join(',')), interval };
}

/** The items of a frame, one character per byte, without the spaces around them. */
function itemsOf(frame: Uint8Array): string[] {
  if (frame.length > HEADERS_MAX_BYTES) return [];
  const text = latin1(frame).trim();
  const items = text.startsWith('{') ? dictionaryItems(text) : undefined;
  return (items ?? text.split(',')).map((item) => item.trim()).filter((item) => item !== '');
}

function dictionaryItems(text: string): string[] | undefined {
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return entries
      .filter(([name, value]) => ASCII.test(name) && isPlain(value))
      .map(([name, value]) => (value === true ? name : `${name}:${String(value)}`));
  } catch {
    return undefined;
  }
}

/** Text must be valid between commas. */
function isPlain(value: unknown): boolean {
  return ['boolean', 'number'].includes(typeof value) || (typeof value === 'string' && ASCII.test(value));
}

/** `name:value`, or a name alone; names in lower case. */
function split(item: string): [name: string, value: string | undefined] {
  const colon = item.indexOf(':');
  const name = (colon < 0 ? item : item.slice(0, colon)).trim().toLowerCase();
  return [name, colon < 0 ? undefined : item.slice(colon + 1).trim()];
}

function readNumber(value: string | undefined, [min, max]: Range): number | undefined {
  if (value === undefined || !/^\d{1,10}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}

function numbered(name: string, value: number): string {
  const [min, max] = RANGES.get(name) as Range;
  if (Number.isInteger(value) && value >= min && value <= max) return `${name}:${value}`;
  throw new RangeError(`header ${name}:${value}: must be an integer from ${min} to ${max}`);
}
