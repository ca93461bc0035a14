/** NFP worker: what the answers mean to a job that it has given, as a client, to workers of another service. Worker rule 17 of docs/protocols/nfp.md. */
import { decodeNfpDispatch, decodeNfpJson } from '@proj/frames/nfp';
import type { NfpClientAnswer } from '@proj/frames/nfp';
import type { NfpBrokerReply } from './events.js';

/** Longest result that is read, in bytes. */
const RESULT_MAX_BYTES = 1_048_576;

const OK = 200;
const UNKNOWN = 404;
const BUSY = 500;
const FINAL: ReadonlySet<number> = new Set([400, 408]);

/** What an EVENT says once there is a result. */
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** How workers are asked. */
export interface NfpAskedJob {
  /** As in a POST. */
  readonly target: string;
  /** The result of the first worker that has not failed, or the next STREAM. */
  readonly awaits: 'result' | 'chunk';
  /** Body of a PUT to the job, which is there already; absent, it is posted. */
  readonly put?: unknown;
}

/** What follows from an answer: the end, another POST after a while, a GET at once, or nothing. */
export type AskedJobTurn = NfpBrokerReply | 'repeat' | 'get' | undefined;

/** Takes down what each worker says. */
export class AskedJob {
  readonly #job: NfpAskedJob;
  readonly #failed = new Map<string, string>();
  #workers = 1;

  constructor(job: NfpAskedJob) {
    this.#job = job;
  }

  /** An answer of broker or worker to it. */
  hear({ command, status, body }: NfpClientAnswer): AskedJobTurn {
    if (command === 'stream') return this.#job.awaits === 'chunk' ? { kind: 'answered', body } : undefined;
    const dispatch = command === 'response' ? decodeNfpDispatch(body) : undefined;
    if (dispatch !== undefined) {
      const { status: said, workers, errors = [] } = dispatch;
      if (said === 'FAILED') return { kind: 'refused', error: errors.join(', ') || `status ${status}` };
      this.#workers = Math.max(1, workers?.length ?? 1);
      return undefined;
    }
    const value = decodeNfpJson(body, RESULT_MAX_BYTES);
    if (command === 'response') return this.#onResponse(status, value);
    return isRecord(value) && (ENDS.has(value['status']) || ENDS.has(value['message'])) ? 'get' : undefined;
  }

  #onResponse(status: number, value: unknown): AskedJobTurn {
    // Brokers up to 0.14 refuse in plain text.
    if (!isRecord(value)) return FINAL.has(status) ? { kind: 'refused', error: `status ${status}` } : undefined;
    const { worker } = value;
    if (typeof worker === 'string') return this.#onWord(worker, status, value);
    for (const [name, result] of Object.entries(status === OK ? value : {})) {
      if (!isRecord(result) || typeof result['failed'] !== 'boolean') continue;
      if (result['failed']) this.#failed.set(name, errorsOf(result) || 'failed');
      else if (this.#job.awaits === 'chunk') this.#failed.set(name, 'ended before the chunk came');
      else return { kind: 'result', worker: name, value: result['result'] };
    }
    return this.#end();
  }

  /** A worker has no result yet, or none to come. */
  #onWord(worker: string, status: number, value: Readonly<Record<string, unknown>>): AskedJobTurn {
    const isPosted = this.#job.put === undefined;
    // A broker that is spoken to in one byte makes 400 of 404.
    const isUnknown = status === UNKNOWN || value['status'] === 'JOB NOT FOUND';
    if (isPosted && (isUnknown || status === BUSY)) return 'repeat';
    if (isUnknown || FINAL.has(status)) this.#failed.set(worker, errorsOf(value) || `status ${status}`);
    return this.#end();
  }

  #end(): NfpBrokerReply | undefined {
    if (this.#failed.size < this.#workers) return undefined;
    return { kind: 'refused', error: Array.from(this.#failed, ([worker, error]) => `${worker}: ${error}`).join('; ') };
  }
}

function errorsOf({ errors }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join(', ') : '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
