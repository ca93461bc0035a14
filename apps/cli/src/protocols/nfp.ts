/** NORFAB in `proj`: how commands reach a broker, and how they show what workers report. */
import { processTransport } from '@proj/appkit';
import { isProjError, NfpClient, ProjError } from '@proj/client';
import type { NfpJobEvent, NfpJobResult } from '@proj/client/nfp';
import { lmdbRecords } from '@proj/store';
import { frameForJson, frameForPeople } from '../render.js';

/** How to reach a broker. */
export interface NfpConnection {
  readonly connect: string[];
  readonly dialect?: 'current' | 'legacy';
  readonly timeoutMs: number;
  readonly transport: 'zmq' | 'zmtp';
  /** A folder that records jobs. */
  readonly store?: string | undefined;
}

/** Runs `action` with a client and closes it. */
export async function withNfpClient<Result>(
  { connect, dialect = 'current', timeoutMs, transport, store }: NfpConnection,
  action: (client: NfpClient) => Promise<Result>,
): Promise<Result> {
  await using client = new NfpClient({
    endpoints: connect,
    dialect,
    askTimeoutMs: timeoutMs,
    transport: processTransport(transport),
    ...(store === undefined ? {} : { store: lmdbRecords({ folder: store }) }),
  });
  return await action(client);
}

/**
 * The promise's outcome, unless the signal aborts first: then it rejects with the signal's reason, and the outcome is ignored.
 */
export async function unlessStopped<Result>(promise: Promise<Result>, stop: AbortSignal): Promise<Result> {
  promise.catch(() => undefined);
  stop.throwIfAborted();
  let abort: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    abort = () => {
      reject(stop.reason as Error);
    };
    stop.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    stop.removeEventListener('abort', abort);
  }
}

/** A worker's result as a line. */
export function lineOfResult(result: NfpJobResult, json: boolean): string {
  const { worker, status, failed, errors, value } = result;
  const returned = result.result instanceof Uint8Array ? frameForJson(result.result) : result.result;
  if (json) return JSON.stringify({ worker, status, failed, result: returned ?? null, errors, value });
  if (failed) return `${worker}: failed: ${errors.join(', ') || forPeople(result.result)}`;
  if (status !== 200) return `${worker}: ${wordOf(value) ?? `status ${status}`}`;
  return `${worker}: ${forPeople(result.result ?? wordOf(value))}`;
}

/** A worker's event as a line. */
export function lineOfEvent({ worker = '', message, severity, value, body }: NfpJobEvent, json: boolean): string {
  if (json) return JSON.stringify({ event: value ?? body.map(frameForJson) });
  const level = severity === undefined || severity === 'INFO' ? '' : `${severity} `;
  return `${worker}> ${level}${message ?? body.map(frameForPeople).join(' ')}`;
}

/** 0 if every worker succeeded, 3 if one did not answer in time, else 1. */
export function exitCodeOf(results: readonly NfpJobResult[]): number {
  if (results.some(({ status }) => status === 408)) return 3;
  return results.some(({ failed }) => failed) ? 1 : 0;
}

/** Adds to the error of a broker that does not know the task which broker this is. */
export function explainUnknown(error: unknown): never {
  if (!isProjError(error, 'PROTOCOL_REMOTE')) throw error;
  throw new ProjError('REJECTED', `${error.message}; NORFAB's own brokers have no such list`);
}

function forPeople(value: unknown): string {
  if (value instanceof Uint8Array) return frameForPeople(value);
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The state that a worker names: PENDING, STARTED, CANCELLED. */
function wordOf(value: unknown): string | undefined {
  const status = typeof value === 'object' && value !== null ? (value as { status?: unknown }).status : undefined;
  return typeof status === 'string' ? status : undefined;
}
