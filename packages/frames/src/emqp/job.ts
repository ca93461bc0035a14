/**
 * eMQP, the job that a body names: `["run", {"callable": ..., "path": ..., "args": ...}]`. Schedulers identify a job by the SHA-1 of its
 * canonical text, the one that Python prints, so both products use the same identity.
 */
import { hasMoreValues } from '../json.js';
import { pythonString, readText } from './text.js';

/** The parts of a job, sorted, each with its default. */
const PARTS = [
  ['args', []],
  ['callable', undefined],
  ['class_args', []],
  ['class_kwargs', {}],
  ['kwargs', {}],
  ['path', undefined],
] as const;

/** Larger bodies name no job. */
const BODY_MAX_BYTES = 262_144;

/** Bodies with more values name no job: the parser cannot be interrupted. */
const VALUES_MAX = 10_000;

/** Python's parser has the same depth. */
const DEPTH_MAX = 900;

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * The canonical text of the job in a body; the lower-case hex of its SHA-1 is the job's identity. Two bodies name the same job if their texts
 * are equal: queue, headers and interval do not count. `undefined` for a body that is not JSON `[word, object]`, lacks `callable` or `path`, is
 * larger than 256 KiB, has more than 10,000 values or keys or is nested deeper than 900. Never throws.
 *
 * Printable ASCII: keys sorted by code point, `", "` and `": "`, numbers as Python prints them.
 */
export function emqpJobText(body: Uint8Array): string | undefined {
  const text = readText(body, BODY_MAX_BYTES);
  if (text === undefined || hasMoreValues(body, VALUES_MAX)) return undefined;
  try {
    JSON.parse(text);
    // Numbers would lose their spelling (`1.0`, many digits), so they become strings marked as numbers, and strings are marked as strings.
    const marked = text.replace(STRING_OR_NUMBER, (token) =>
      token.startsWith('"') ? `"$${token.slice(1)}` : `"#${token}"`,
    );
    return printJob(JSON.parse(marked));
  } catch {
    return undefined;
  }
}

function printJob(message: unknown): string | undefined {
  if (!Array.isArray(message) || message.length !== 2 || !isWord(message[0]) || !isObject(message[1])) return undefined;
  const job = message[1];
  if (!isWord(job['$callable']) || !isWord(job['$path'])) return undefined;
  return `{${PARTS.map(([name, missing]) => `"${name}": ${print(Object.hasOwn(job, `$${name}`) ? job[`$${name}`] : missing, 0)}`).join(', ')}}`;
}

/** Prints marked values: `$` before a string and a key, `#` before a number. */
function print(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) throw new RangeError('nested too deeply');
  if (typeof value === 'string') {
    return value.startsWith('#') ? pythonNumber(value.slice(1)) : pythonString(value.slice(1));
  }
  if (Array.isArray(value)) return `[${value.map((entry) => print(entry, depth + 1)).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return `{${entries.map(([key, entry]) => `${pythonString(key.slice(1))}: ${print(entry, depth + 1)}`).join(', ')}}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A non-empty marked string. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length > 1 && value.startsWith('$');
}

/** JavaScript compares UTF-16 units, which puts characters beyond U+FFFF before some below it. */
function compareCodePoints(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [left, right] = [a.codePointAt(i) as number, b.codePointAt(i) as number];
    if (left !== right) return left - right;
    if (left > 0xffff) i++;
  }
  return a.length - b.length;
}

/** Integers of any length stay unchanged; everything else is a double in its shortest form, as `repr` writes it. */
function pythonNumber(token: string): string {
  if (!/[.eE]/.test(token)) return token === '-0' ? '0' : token;
  const value = Number(token);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '', exponentText = ''] = Math.abs(value).toExponential().split('e');
  const exponent = Number(exponentText);
  const digits = mantissa.replace('.', '');
  if (exponent >= 16 || exponent < -4) {
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}
