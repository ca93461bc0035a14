/** NFP client: the answers of workers about a job, for callers. */
import type { NfpBody } from '@proj/frames/nfp';
import { ProjError, toBuffers } from '@proj/transport';
import { isRecord } from './engine/answers.js';
import type { NfpReply } from './engine/events.js';

/** One worker's answer about a job. */
export interface NfpJobResult {
  readonly worker: string;
  /**
   * 200 done; 300 not yet; 102 waits for input; 400 rejected; 404 unknown to it; 408 no answer in time; 417 unexpected answer; others as
   * reported by the worker.
   */
  readonly status: number;
  /** The task failed, or there is no result. */
  readonly failed: boolean;
  /** What the task returned; bytes if the worker did not answer in JSON. */
  readonly result: unknown;
  readonly errors: readonly string[];
  /** The worker's whole answer, with messages, times, `diff`. */
  readonly value: unknown;
}

/** The answer of each worker, by its name. */
export type NfpJobResults = Readonly<Record<string, NfpJobResult>>;

/** One worker's answer to a call of its management. */
export interface NfpWorkerAnswer {
  /** Answers are not signed: the name is known only if one worker was called, or all others are known. */
  readonly worker: string | undefined;
  /** 200; 400 for a forbidden call; 408 for no answer in time. */
  readonly status: number;
  /** The JSON of the answer. */
  readonly value: unknown;
}

/** Decodes workers' answers to a GET or DELETE. Never throws. */
export function resultsOf(replies: readonly NfpReply[]): NfpJobResults {
  const results = replies.map(({ worker = '', status, value, body }) => {
    // A result is keyed by its worker's name.
    const own = isRecord(value) && isRecord(value[worker]) ? value[worker] : value;
    return [worker, resultOf(worker, status, own, body)] as const;
  });
  return Object.fromEntries(results);
}

/** Decodes a worker's answer. Never throws. */
export function resultOf(worker: string, status: number, value: unknown, body: NfpBody): NfpJobResult {
  const errors = isRecord(value) && Array.isArray(value['errors']) ? value['errors'].map(String) : [];
  if (status === 200 && isRecord(value) && 'result' in value)
    return { worker, status, failed: value['failed'] === true, result: value['result'], errors, value };
  // An answer to DELETE has only a word.
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
 * What each worker returned, by its name. Throws a `ProjError` if one of them failed: `TIMEOUT` if one did not answer in time, otherwise
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
      return 'no result in time, only an unexpected answer';
    default:
      return `status ${status}`;
  }
}
