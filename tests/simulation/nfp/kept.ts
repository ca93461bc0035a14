/**
 * Checker of worker rules 4, 6, 8 and 12 of docs/protocols/nfp.md: a job that a worker has accepted is on its disk, stays there until
 * a client deletes it, and ends once, as its task or the crash policy says.
 */
import { decodeNfpJson } from '@proj/frames/nfp';
import type { NfpToBroker } from '@proj/frames/nfp';
import type { Checker, JobRecord, Sight } from './sight.js';

/** What a worker does with interrupted jobs. */
export interface CrashPolicy {
  readonly crashPolicy: 'rerun' | 'fail';
  readonly maxRuns: number;
}

/** Follows each job at each worker. */
export class KeptChecker implements Checker {
  readonly #policy: CrashPolicy;
  /** The contents of the disks, by worker and job. */
  readonly #jobs = new Map<string, JobRecord>();
  readonly #results = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #deleted = new Set<string>();
  /** How the last run in this process of the worker has ended. */
  readonly #endings = new Map<string, boolean>();

  constructor(policy: CrashPolicy) {
    this.#policy = policy;
  }

  /** Jobs that have not ended, and missing ones: one line each. */
  get open(): string[] {
    const open = [...this.#jobs].filter(([, { state }]) => state === 'PENDING' || state === 'STARTED');
    const lost = [...this.#accepted].filter((job) => !this.#jobs.has(job) && !this.#deleted.has(job));
    const empty = [...this.#jobs.keys()].filter((job) => !this.#results.has(job));
    return [
      ...open.map(([job, { state }]) => `${job} is ${state}`),
      ...lost.map((job) => `${job} is lost`),
      ...empty.map((job) => `${job} has no result`),
    ];
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'said':
        this.#said(sight.worker, sight.command);
        break;
      case 'told':
        if (sight.command.kind === 'worker-call' && sight.command.command === 'delete')
          this.#deleted.add(keyOf(sight.worker, sight.command.uuid));
        break;
      case 'ended':
        this.#endings.set(keyOf(sight.worker, sight.uuid), sight.well);
        break;
      case 'crashed':
        for (const job of this.#endings.keys()) if (job.startsWith(`${sight.process}/`)) this.#endings.delete(job);
        break;
      case 'stored':
        this.#stored(keyOf(sight.worker, sight.uuid), sight.job);
        break;
      case 'result':
        this.#result(sight);
        break;
      case 'removed': {
        const job = keyOf(sight.worker, sight.uuid);
        if (!this.#deleted.has(job)) throw new Error(`${job} has left the disk, and nobody has deleted it`);
        this.#jobs.delete(job);
        this.#results.delete(job);
        break;
      }
      default:
        break;
    }
  }

  #said(worker: string, command: NfpToBroker): void {
    if (command.kind !== 'worker-answer' || command.command !== 'response') return;
    const job = keyOf(worker, command.uuid);
    if (command.status === 404 && this.#jobs.has(job)) throw new Error(`${job} was said to be unknown`);
    if (command.status !== 201 && command.status !== 202) return;
    const said = decodeNfpJson(command.body) as { readonly status?: unknown } | undefined;
    if (said?.status !== 'ACCEPTED') return;
    if (!this.#jobs.has(job)) throw new Error(`${job} was accepted and is not on the disk`);
    this.#accepted.add(job);
  }

  #stored(job: string, record: JobRecord): void {
    const before = this.#jobs.get(job);
    if (before !== undefined && isFinal(before) && before.state !== record.state)
      throw new Error(`${job} was ${before.state} and is ${record.state}`);
    if (before === undefined && isFinal(record)) throw new Error(`${job} is ${record.state} and was never accepted`);
    if (record.runs > this.#policy.maxRuns) throw new Error(`${job} is run ${record.runs} times`);
    this.#jobs.set(job, record);
  }

  #result({ worker, uuid, result }: Sight & { kind: 'result' }): void {
    const job = keyOf(worker, uuid);
    this.#results.add(job);
    const { status, juuid, errors } = result;
    if (juuid !== uuid) throw new Error(`${job} has the result of ${juuid}`);
    const ending = this.#endings.get(job);
    if (status === 'cancelled' && !this.#deleted.has(job))
      throw new Error(`${job} is cancelled, and nobody asked for it`);
    if (status === 'completed' && ending !== true) throw new Error(`${job} is completed, and no run of it was`);
    if (status !== 'failed') return;
    if (errors[0] !== 'interrupted') {
      if (ending !== false) throw new Error(`${job} has failed, and no run of it did: ${errors.join()}`);
      return;
    }
    const runs = this.#jobs.get(job)?.runs ?? 0;
    if (ending !== undefined || runs === 0) throw new Error(`${job} was not interrupted`);
    if (this.#policy.crashPolicy === 'rerun' && runs < this.#policy.maxRuns)
      throw new Error(`${job} was given up after ${runs} runs`);
  }
}

function isFinal({ state }: JobRecord): boolean {
  return state !== 'PENDING' && state !== 'STARTED';
}

function keyOf(worker: string, uuid: string): string {
  return `${worker}/${uuid}`;
}
