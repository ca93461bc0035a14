/** NFP client: decodes the bodies of answers. Total: every body has a meaning. Section "Bodies" of docs/protocols/nfp.md. */
import { decodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpDispatch } from '@proj/frames/nfp';

/** The content of a RESPONSE about a job or a question. */
export type NfpSaid =
  /** The broker's own word. */
  | { readonly by: 'broker'; readonly dispatch: NfpDispatch }
  /** A worker's word about the job: accepted, pending, unknown, cancelled. */
  | { readonly by: 'worker'; readonly worker: string; readonly value: Readonly<Record<string, unknown>> }
  /** Results, by worker. */
  | { readonly by: 'results'; readonly value: Readonly<Record<string, unknown>> }
  /** Anything else. */
  | { readonly by: 'nobody'; readonly value: unknown };

/** Longest body that is parsed as JSON: a frame cannot be longer. */
const JSON_MAX_BYTES = 134_217_728;

/** Limit of its values, about a gigabyte. A body with more is passed on as bytes. */
const JSON_MAX_VALUES = 10_000_000;

/** The JSON in a body of any size; `undefined` if it is not JSON. */
export function readJson(body: NfpBody): unknown {
  return decodeNfpJson(body, JSON_MAX_BYTES, JSON_MAX_VALUES);
}

/** Decodes a body. */
export function readSaid(body: NfpBody): NfpSaid {
  const value = readJson(body);
  if (!isRecord(value)) return { by: 'nobody', value };
  if (isDispatch(value)) return { by: 'broker', dispatch: value };
  const { worker } = value;
  if (typeof worker === 'string') return { by: 'worker', worker, value };
  const entries = Object.values(value);
  return entries.length > 0 && entries.every(isRecord) ? { by: 'results', value } : { by: 'nobody', value };
}

/** The status for a word, for releases with fewer statuses on the wire and for joined answers. */
const STATUS_OF_WORD: Readonly<Record<string, number>> = {
  ACCEPTED: 201,
  PENDING: 300,
  STARTED: 300,
  WAITING_CLIENT_INPUT: 102,
  'JOB NOT FOUND': 404,
  CANCELLED: 200,
  CANCELLING: 200,
  DELETED: 200,
};

/** The status of a signed answer. In one-byte form brokers send 300 for 102, and 400 for 404. */
export function statusOf(status: number, { status: word }: Readonly<Record<string, unknown>>): number {
  const meant = typeof word === 'string' ? STATUS_OF_WORD[word] : undefined;
  if (meant === 102) return status === 300 ? meant : status;
  return meant === 404 && status === 400 ? meant : status;
}

/** The status of an entry under a worker's name: its word about the job; 408 if the broker speaks for it; `undefined` for a result. */
export function statusWithin(worker: string, value: unknown): number | undefined {
  if (!isRecord(value) || value['worker'] !== worker || 'result' in value) return undefined;
  const { status: word } = value;
  return typeof word === 'string' ? (STATUS_OF_WORD[word] ?? 408) : undefined;
}

/** The texts in `errors`, or the body itself if it is text, as from old brokers. */
export function errorsOf(said: NfpSaid, body: NfpBody): readonly string[] {
  if (said.by === 'broker') return said.dispatch.errors ?? [];
  const { value } = said;
  if (isRecord(value) && isTexts(value['errors'])) return value['errors'];
  const text = body.length === 1 ? readText(body[0] as Uint8Array) : '';
  return text === '' ? [] : [text];
}

/** True for an EVENT after which there may be a result or a question to fetch. */
export function isTurn(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { status, message, event_type: type } = value;
  return TURNS.has(status) || TURNS.has(message) || type === 'input_request';
}

const TURNS = new Set<unknown>(['completed', 'failed', 'cancelled', 'waiting_client_input']);
const STATES = new Set<unknown>(['DISPATCHED', 'PENDING', 'CANCELLED', 'FAILED']);

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDispatch(value: Record<string, unknown>): value is Record<string, unknown> & NfpDispatch {
  const { workers, status, errors, target } = value;
  if (!STATES.has(status) || !(workers === null || isTexts(workers))) return false;
  return typeof target === 'string' && (errors === undefined || isTexts(errors));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

const ERROR_MAX_BYTES = 1024;

function readText(frame: Uint8Array): string {
  return new TextDecoder().decode(frame.subarray(0, ERROR_MAX_BYTES));
}
