/**
 * eMQP, the queues of an INFORM: one JSON array of `[weight, name]` arrays, which is what the product sends, or what the
 * text seems to mean, `[10,"a"],[20,"b"]` and `[40, 'email']`.
 */
import type { EmqpQueue } from './commands.js';
import { isNestedDeeper } from '../json.js';
import { isName, pythonJson } from './text.js';

const QUEUES_MAX = 1000;

/** Longest field, in bytes: a worker of 1000 queues has 60 for each. */
export const QUEUES_MAX_BYTES = 65_536;

/** A list of pairs, and the brackets that the text lacks. */
const DEPTH_MAX = 3;

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** The queues that the text names, or `undefined` when it cannot be understood, names too many, or one that is no name. */
export function readQueues(text: string): EmqpQueue[] | undefined {
  return readQuoted(text) ?? (text.includes("'") ? readQuoted(text.replaceAll("'", '"')) : undefined);
}

/** The canonical text: JSON as Python prints it. Throws a `RangeError` for what {@link readQueues} would refuse. */
export function writeQueues(queues: readonly EmqpQueue[]): string {
  if (queues.length > QUEUES_MAX) throw new RangeError(`${queues.length} queues: the limit is ${QUEUES_MAX}`);
  for (const { weight, name } of queues) {
    if (!Number.isFinite(weight)) throw new RangeError(`weight ${weight} of queue ${JSON.stringify(name)}: not finite`);
    if (!isName(name)) throw new RangeError(describeBadName(name));
  }
  const text = pythonJson(queues.map(({ weight, name }) => [weight, name]));
  if (text.length > QUEUES_MAX_BYTES)
    throw new RangeError(
      `queues of ${text.length} bytes: the limit is ${QUEUES_MAX_BYTES}; use fewer or shorter names`,
    );
  return text;
}

/** One sentence about an invalid name: the name, cut to a readable length, and what is allowed. */
export function describeBadName(name: string): string {
  return `queue name ${JSON.stringify(name.slice(0, 40))}: must be 1 to 255 bytes of UTF-8`;
}

function readQuoted(text: string): EmqpQueue[] | undefined {
  const value = parseArray(text) ?? parseArray(`[${text}]`);
  if (value === undefined || value.length > QUEUES_MAX) return undefined;
  const only = readPair(value);
  if (only !== undefined) return [only];
  const queues: EmqpQueue[] = [];
  for (const entry of value) {
    const queue = readPair(entry);
    if (queue === undefined) return undefined;
    queues.push(queue);
  }
  return queues;
}

function readPair(value: unknown): EmqpQueue | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [weightField, name] = value as readonly unknown[];
  const weight = readWeight(weightField);
  return weight !== undefined && typeof name === 'string' && isName(name) ? { weight, name } : undefined;
}

/** A finite number, or the text of one. */
function readWeight(value: unknown): number | undefined {
  const isText = typeof value === 'string' && NUMBER.test(value);
  const weight = isText ? Number(value) : value;
  // Minus zero would be sent on as zero.
  return typeof weight === 'number' && Number.isFinite(weight) ? weight + 0 : undefined;
}

function parseArray(text: string): unknown[] | undefined {
  if (isNestedDeeper(text, DEPTH_MAX)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
