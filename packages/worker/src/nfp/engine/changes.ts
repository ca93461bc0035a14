/** NFP worker: changes of jobs as records, and when they are written. */
import { joinJson } from './bodies.js';
import type { NfpCallBody } from './call.js';
import { encodeJob, jobKeys } from './job.js';
import type { NfpFinalState, NfpIncomingCall, NfpJob } from './job.js';
import type { Output } from './output.js';
import { Writes } from './writes.js';
import type { Write } from './writes.js';

/** After a commit that failed: how long nothing new is begun, and changes of accepted jobs wait. */
const STORE_RETRY_MS = 1000;

/** Bytes of calls that may wait to be durable, besides the first one. */
const ACCEPTING_MAX_BYTES = 67_108_864;

/** All of them set the job's `change`, but for `mark`. What follows when they are durable is settlement.ts. */
export class JobWrites {
  readonly #output: Output;
  readonly #writes = new Writes();
  #stalledUntil = -Infinity;
  #acceptingBytes = 0;
  #joining = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Jobs that will be in the queue when they are durable. */
  get joining(): number {
    return this.#joining;
  }

  /** When the store is tried again; `Infinity` when it has not failed. */
  get deadline(): number {
    return this.#stalledUntil > -Infinity ? this.#stalledUntil : Infinity;
  }

  /** Until when nothing is written; long past when the store has not failed. */
  get stalledUntil(): number {
    return this.#stalledUntil;
  }

  /** True when nothing is on its way. */
  get isIdle(): boolean {
    return this.#writes.isIdle;
  }

  /** True while the store is not tried, since it has failed. */
  isStalled(now: number): boolean {
    return this.#stalledUntil > now;
  }

  /** Whether a call of this size may wait to be durable. */
  hasRoom(bytes: number): boolean {
    return this.#acceptingBytes === 0 || this.#acceptingBytes + bytes <= ACCEPTING_MAX_BYTES;
  }

  /** A new job. With `body` it has a slot, and begins when it is durable. */
  accept(job: NfpJob, call: NfpIncomingCall, body: NfpCallBody | undefined): void {
    job.change = 'accept';
    this.#acceptingBytes += bytesOf(call);
    if (body === undefined) this.#joining++;
    this.#writes.add({
      kind: 'accept',
      job,
      puts: [
        [jobKeys.job(job.uuid), encodeJob(job, body === undefined ? {} : { state: 'STARTED' })],
        [jobKeys.call(job.uuid), call.body[0] as Uint8Array],
      ],
      removes: [],
      call,
      body,
    });
  }

  /** The wait of an `accept` is over, either way. */
  accepted(job: NfpJob, call: NfpIncomingCall): void {
    this.#acceptingBytes -= bytesOf(call);
    if (job.run === undefined) this.#joining--;
  }

  /** A job from the queue begins. */
  start(job: NfpJob): void {
    job.change = 'start';
    const record = encodeJob(job, { state: 'STARTED' });
    this.#writes.add({ kind: 'start', job, puts: [[jobKeys.job(job.uuid), record]], removes: [] });
  }

  /** Something of the job is other than before, and it stays what it is. */
  mark(job: NfpJob, call: NfpIncomingCall): void {
    this.#writes.add({ kind: 'mark', job, puts: [[jobKeys.job(job.uuid), encodeJob(job)]], removes: [], call });
  }

  /** A job has a result: of its call nothing is kept. */
  finish(job: NfpJob, state: NfpFinalState, result: Uint8Array, call: NfpIncomingCall | undefined): void {
    const { uuid } = job;
    job.change = 'finish';
    const puts: Write['puts'][number][] = [
      [jobKeys.job(uuid), encodeJob(job, { state })],
      [jobKeys.result(uuid), result],
    ];
    if (job.log.length > 0) puts.push([jobKeys.events(uuid), joinJson(job.log)]);
    this.#writes.add({ kind: 'finish', job, puts, removes: [jobKeys.call(uuid)], state, call });
  }

  /** A finished job is forgotten. */
  remove(job: NfpJob, call: NfpIncomingCall | undefined): void {
    const { uuid } = job;
    job.change = 'remove';
    const removes = [jobKeys.job(uuid), jobKeys.call(uuid), jobKeys.result(uuid), jobKeys.events(uuid)];
    this.#writes.add({ kind: 'remove', job, puts: [], removes, call });
  }

  /** Writes what has gathered, unless something is being written or the store has just failed. */
  flush(now: number): void {
    if (this.isStalled(now)) return;
    const commit = this.#writes.take();
    if (commit !== undefined) this.#output.push({ kind: 'commit', commit: commit.number, batch: commit.batch });
  }

  /** The changes of the commit that has ended; none when it is not the one under way. */
  settle(commit: number): readonly Write[] {
    return this.#writes.settle(commit);
  }

  /** The store has failed: these are written again, before all others, when it has had a while. */
  again(writes: readonly Write[], now: number): void {
    this.#stalledUntil = now + STORE_RETRY_MS;
    this.#writes.again(writes);
  }

  /** Trusts the store again when it has had its while. */
  recover(now: number): void {
    if (!this.isStalled(now)) this.#stalledUntil = -Infinity;
  }

  /** Does not wait for a store that has failed: it would be for ever. Returns what is not written by that. */
  abandon(): Write[] {
    if (this.#stalledUntil === -Infinity) return [];
    this.#stalledUntil = -Infinity;
    return this.#writes.drop();
  }

  assertInvariants(): void {
    if (this.#acceptingBytes < 0 || this.#joining < 0)
      throw new Error('NfpWorkerSession: less than nothing is being accepted');
  }
}

function bytesOf(call: NfpIncomingCall): number {
  return (call.body[0] as Uint8Array).length;
}
