/** The body of a POST: which task is called, with what. docs/protocols/nfp.md, section 2. */
import { decodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody } from '@proj/frames/nfp';

/** Seconds that a client waits unless it says otherwise, and the most that is believed: a day more than ten years. */
const TIMEOUT_S = 60;
const TIMEOUT_MAX_S = 315_446_400;

/** A call, taken apart. */
export interface NfpCallBody {
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** The call in a body of one frame, or what is wrong with it, for people. Never throws. */
export function readCall(body: NfpBody, maxBytes: number): NfpCallBody | string {
  const value = decodeNfpJson(body, maxBytes);
  if (!isObject(value)) return 'body is not a JSON object, or too large a one';
  const { task, kwargs = {}, args = [], timeout = TIMEOUT_S } = value;
  if (typeof task !== 'string' || task === '') return 'task is not a text';
  if (!isObject(kwargs)) return 'kwargs is not an object';
  if (!Array.isArray(args)) return 'args is not an array';
  const seconds = typeof timeout === 'number' && timeout > 0 ? Math.min(timeout, TIMEOUT_MAX_S) : TIMEOUT_S;
  return { task, args, kwargs, timeoutMs: Math.round(seconds * 1000) };
}

/**
 * One text for all bodies that ask for the same: keys in order, no blanks, without the timeout. `undefined` for nesting that
 * is too deep to be written.
 */
export function canonicalCall({ task, args, kwargs }: NfpCallBody): string | undefined {
  try {
    return JSON.stringify({ args, kwargs, task }, (_key, value: unknown) => (isObject(value) ? inOrder(value) : value));
  } catch {
    return undefined;
  }
}

function inOrder(object: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
