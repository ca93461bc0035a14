/** NFP client: what workers say about a job, for callers. */
import type { NfpBody } from '@proj/frames/nfp';
import { ProjError, toBuffers } from '@proj/transport';
import { isRecord } from './engine/answers.js';
import type { NfpReply } from './engine/events.js';

/** What one worker says about a job. */
export interface NfpJobResult {
  readonly worker: string;
  /** 200 done; 300 not yet; 102 waits for input; 400 refused; 404 unknown to it; 408 nothing in time; 417 nothing but what is no answer; others as the worker says. */
  readonly status: number;
  /** The task failed, or there is no result. */
  readonly failed: boolean;
  /** What the task returned; bytes where the worker did not answer in JSON. */
  readonly result: unknown;
  readonly errors: readonly string[];
  /** All that the worker said, such as messages, times, `diff`. */
  readonly value: unknown;
}

/** What each worker says, by its name. */
export type NfpJobResults = Readonly<Record<string, NfpJobResult>>;

/** What one worker says to a call of its management. */
export interface NfpWorkerAnswer {
  /** Answers are not signed: this is known only where one worker was asked, or all others have said who they are. */
  readonly worker: string | undefined;
  /** 200; 400 for what is not allowed; 408 for nothing in time. */
  readonly status: number;
  /** The JSON of the answer. */
  readonly value: unknown;
}

/** Reads what workers say about a job to somebody who asks. Never throws. */
export function resultsOf(replies: readonly NfpReply[]): NfpJobResults {
  const results = replies.map(({ worker = '', status, value, body }) => {
    // A result is filed under its worker's name.
    const own = isRecord(value) && isRecord(value[worker]) ? value[worker] : value;
    return [worker, resultOf(worker, status, own, body)] as const;
  });
  return Object.fromEntries(results);
}

/** Reads the word of a worker. Never throws. */
export function resultOf(worker: string, status: number, value: unknown, body: NfpBody): NfpJobResult {
  const errors = isRecord(value) && Array.isArray(value['errors']) ? value['errors'].map(String) : [];
  if (status === 200 && isRecord(value) && 'result' in value)
    return { worker, status, failed: value['failed'] === true, result: value['result'], errors, value };
  // An answer to DELETE: the word is all there is.
  if (status === 200 && isRecord(value) && value['worker'] === worker && typeof value['status'] === 'string')
    return { worker, status, failed: false, result: undefined, errors, value };
  if (status === 200) return { worker, status, failed: false, result: value ?? toBuffers(body)[0], errors, value };
  const failed = status >= 400;
  return {
    worker,
    status,
    failed,
    result: undefined,
    errors: failed && errors.length === 0 ? [explain(status)] : errors,
    value,
  };
}

/**
 * What each worker returned, by its name. Throws a `ProjError` when one of them failed: `TIMEOUT` if one said nothing in time, else
 * `REJECTED`; `details` are the results.
 */
export function nfpResultsOrThrow(results: NfpJobResults): Readonly<Record<string, unknown>> {
  const all = Object.values(results);
  const failures = all.filter(({ failed }) => failed);
  if (failures.length === 0) return Object.fromEntries(all.map(({ worker, result }) => [worker, result]));
  const code = failures.some(({ status }) => status === 408) ? 'TIMEOUT' : 'REJECTED';
  const texts = failures.map(({ worker, errors }) => `${worker}: ${errors.join(', ') || 'failed'}`);
  throw new ProjError(code, `${failures.length} of ${all.length} workers failed: ${texts.join('; ')}`, {
    details: results,
  });
}

function explain(status: number): string {
  switch (status) {
    case 400:
      return 'refused';
    case 404:
      return 'the worker does not know the job';
    case 408:
      return 'no result in time';
    case 417:
      return 'no result in time, and something that is none has come';
    default:
      return `status ${status}`;
  }
}
