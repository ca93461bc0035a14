/**
 * NFP bodies that a broker writes or reads: JSON in one frame of UTF-8. Everything else in a body is between a client and its workers, and
 * opaque. docs/protocols/nfp.md, section "Bodies".
 */
import { hasMoreValues } from '../json.js';
import { writeUtf8 } from '../slab.js';
import type { NfpBody } from './commands.js';
import { readUtf8 } from './text.js';

/** Longest body, in bytes, that a broker parses as JSON: calls to its own services and OPEN are small. */
const JSON_MAX_BYTES = 65_536;

/** Longest answer of a broker, in bytes: it may list every worker there is. */
const DISPATCH_MAX_BYTES = 67_108_864;

/**
 * Default limit of values in a body, counted by JSON's separators and brackets: a million empty objects take half a second and a hundred
 * megabytes, and fit into three.
 */
const VALUES_MAX = 1_000_000;

/** A call by name, to a worker or to a service of the broker. */
export interface NfpTask {
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

/** The content of OPEN. Other keys are ignored. */
export interface NfpOpenInfo {
  /** The sender. */
  readonly name: string;
  readonly version: string;
  readonly keepalive: {
    /** Milliseconds. */
    readonly interval: number;
    /** Intervals of silence after which the other side is gone. */
    readonly multiplier: number;
  };
}

/** A broker's own answers to a call: 202 DISPATCHED, 300 PENDING, 200 CANCELLED or, with `errors`, 400 FAILED. */
export interface NfpDispatch {
  /** The workers that the call was forwarded to; `null` if it failed. */
  readonly workers: readonly string[] | null;
  readonly uuid: string;
  /** The target frame of the call. */
  readonly target: string;
  readonly status: 'DISPATCHED' | 'PENDING' | 'CANCELLED' | 'FAILED';
  readonly service: string;
  readonly errors?: readonly string[] | undefined;
}

/** Any JSON value as a body. Throws a `TypeError` for `undefined`, functions and cycles. */
export function encodeNfpJson(value: unknown): Uint8Array[] {
  // The type of JSON.stringify does not say so, but it returns undefined for values it cannot express.
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`JSON cannot express ${typeof value}`);
  return [writeUtf8(text)];
}

/** Characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The same for a broker's own answer. Assembled by hand: there is one for each job, and most name one worker and need no escapes. */
export function encodeNfpDispatch(said: NfpDispatch): Uint8Array[] {
  const { workers, uuid, target, status, service, errors } = said;
  const [worker] = workers ?? [];
  const isUsual = worker !== undefined && workers?.length === 1 && errors === undefined;
  if (!isUsual || !PLAIN.test(worker + uuid + target + service)) return encodeNfpJson(said);
  const names = `"workers":["${worker}"],"uuid":"${uuid}","target":"${target}"`;
  return [writeUtf8(`{${names},"status":"${status}","service":"${service}"}`)];
}

/**
 * The JSON value in a body of one frame; `undefined` if there is none, if it is longer than `maxBytes` (64 KiB by default), or has more than
 * `maxValues` commas, colons and opening brackets (a million by default). Never throws.
 */
export function decodeNfpJson(body: NfpBody, maxBytes = JSON_MAX_BYTES, maxValues = VALUES_MAX): unknown {
  const frame = body[0];
  if (frame === undefined || body.length > 1 || frame.length > maxBytes || hasMoreValues(frame, maxValues))
    return undefined;
  const text = readUtf8(frame);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A broker's answer in a body; `undefined` for anything else, such as a worker's answer. Never throws. */
export function decodeNfpDispatch(body: NfpBody): NfpDispatch | undefined {
  const value = decodeNfpJson(body, DISPATCH_MAX_BYTES);
  if (!isObject(value) || !STATUSES.has(value['status'])) return undefined;
  const { workers, uuid, target, service, errors } = value;
  if (!(workers === null || isStrings(workers)) || !(errors === undefined || isStrings(errors))) return undefined;
  if (typeof uuid !== 'string' || typeof target !== 'string' || typeof service !== 'string') return undefined;
  return value as unknown as NfpDispatch;
}

/** The call in a body: `task` is required, `kwargs` and `args` are optional. `undefined` for anything else; never throws. */
export function decodeNfpTask(body: NfpBody): NfpTask | undefined {
  const value = decodeNfpJson(body);
  if (!isObject(value)) return undefined;
  const { task, kwargs = {}, args = [] } = value;
  return typeof task === 'string' && isObject(kwargs) && Array.isArray(args) ? { task, kwargs, args } : undefined;
}

/** The content of OPEN's body; `undefined` if incomplete, which is legal. Never throws. */
export function decodeNfpOpenInfo(body: NfpBody): NfpOpenInfo | undefined {
  const value = decodeNfpJson(body);
  if (!isObject(value)) return undefined;
  const { name, version, keepalive } = value;
  if (!isObject(keepalive)) return undefined;
  const { interval, multiplier } = keepalive;
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  if (typeof interval !== 'number' || typeof multiplier !== 'number') return undefined;
  return { name, version, keepalive: { interval, multiplier } };
}

const STATUSES = new Set<unknown>(['DISPATCHED', 'PENDING', 'CANCELLED', 'FAILED']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
