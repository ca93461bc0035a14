/** NFP worker: jobs as records of the store, and when they are written and read. Worker rules 4, 10 and 11 of docs/protocols/nfp.md. */
import { fromLatin1, latin1 } from '@proj/frames';
import type { RecordBatch } from '@proj/transport';
import { joinJson } from './jobs/bodies.js';
import type { NfpCallBody, NfpFinalState, NfpIncomingCall, NfpStoredJob, NfpOutput } from './events.js';
import type { NfpJob } from './state.js';

/** After a failed commit: how long nothing new begins, and changes of accepted jobs wait. */
const STORE_RETRY_MS = 1000;

/** Bytes of calls that may wait to be durable, besides the first one. */
const ACCEPTING_MAX_BYTES = 67_108_864;

/** Records read at the same time: results are kept in the store to save memory. */
const READS_MAX = 32;

/** Calls that may wait for their turn to read. */
const WAITING_MAX = 10_000;

/** Prefix of the keys of all jobs. */
export const JOB_PREFIX = 'job/';

/** Keys of the records of one job. */
export const jobKeys = {
  job: (uuid: string) => `${JOB_PREFIX}${uuid}`,
  call: (uuid: string) => `call/${uuid}`,
  result: (uuid: string) => `result/${uuid}`,
  events: (uuid: string) => `events/${uuid}`,
};

/** The record of a job, with pending changes. */
export function encodeJob(job: NfpStoredJob, changes: Partial<NfpStoredJob> = {}): Uint8Array {
  const { replyTo, ...fields } = { ...fieldsOf(job), ...changes };
  const client = replyTo === undefined ? null : latin1(replyTo);
  return new TextEncoder().encode(JSON.stringify({ v: 1, client, ...fields }));
}

/** The job in a record; `undefined` if the record is not ours. */
export function decodeJob(record: Uint8Array): NfpStoredJob | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(record)) as { v?: unknown; client: string | null } & NfpStoredJob;
    if (value.v !== 1 || typeof value.uuid !== 'string' || typeof value.seq !== 'number') return undefined;
    return { ...fieldsOf(value), replyTo: value.client === null ? undefined : fromLatin1(value.client) };
  } catch {
    return undefined;
  }
}

function fieldsOf(job: NfpStoredJob): NfpStoredJob {
  const { uuid, seq, task, digest, timeoutMs, replyTo, state, runs, cancelling, startedAt, endedAt } = job;
  // Earlier releases did not write it.
  const { receivedAt = 0 } = job as Partial<NfpStoredJob>;
  return { uuid, seq, task, digest, timeoutMs, replyTo, state, runs, cancelling, receivedAt, startedAt, endedAt };
}

/** One change of one job. */
export interface Write {
  /** `mark` changes only the record; the job keeps its state. */
  readonly kind: NonNullable<NfpJob['change']> | 'mark';
  readonly job: NfpJob;
  readonly puts?: NonNullable<RecordBatch['puts']>;
  readonly removes?: readonly string[];
  /** The call that is answered when the change is durable. */
  readonly call?: NfpIncomingCall | undefined;
  /** `accept`: what to run when it is durable. If absent, the job waits. */
  readonly body?: NfpCallBody | undefined;
  /** `finish`: how. */
  readonly state?: NfpFinalState | undefined;
}

/**
 * Changes of jobs on their way to the store, many per commit. One commit is pending while the next one is collected, so changes of one job take
 * effect in order. commits.ts handles what follows when they are durable.
 */
export class JobWrites {
  readonly #out: NfpOutput;
  #gathering: Write[] = [];
  #underWay: Write[] = [];
  #commit = 0;
  #stalledUntil = -Infinity;
  #acceptingBytes = 0;
  #joining = 0;

  constructor(out: NfpOutput) {
    this.#out = out;
  }

  /** Jobs that will be queued when they are durable. */
  get joining(): number {
    return this.#joining;
  }

  /** When to retry the store; `Infinity` if it has not failed. */
  get deadline(): number {
    return this.#stalledUntil > -Infinity ? this.#stalledUntil : Infinity;
  }

  /** Until when nothing is written; in the past if the store has not failed. */
  get stalledUntil(): number {
    return this.#stalledUntil;
  }

  /** True if nothing is pending. */
  get isIdle(): boolean {
    return this.#gathering.length === 0 && this.#underWay.length === 0;
  }

  /** True while the store is not used because it has failed. */
  get isStalled(): boolean {
    return this.#stalledUntil > this.#out.now;
  }

  /** Whether a call of this size may wait to be durable. */
  hasRoom(bytes: number): boolean {
    return this.#acceptingBytes === 0 || this.#acceptingBytes + bytes <= ACCEPTING_MAX_BYTES;
  }

  /** A new job. With `body` it has a slot, and begins when it is durable. */
  accept(job: NfpJob, call: NfpIncomingCall, body: NfpCallBody | undefined): void {
    this.#acceptingBytes += bytesOf(call);
    if (body === undefined) this.#joining++;
    const puts: Write['puts'] = [
      [jobKeys.job(job.uuid), encodeJob(job, body === undefined ? {} : { state: 'STARTED' })],
      [jobKeys.call(job.uuid), call.body[0] as Uint8Array],
    ];
    this.#change({ kind: 'accept', job, puts, call, body });
  }

  /** An `accept` has ended, either way. */
  accepted(job: NfpJob, call: NfpIncomingCall): void {
    this.#acceptingBytes -= bytesOf(call);
    if (job.run === undefined) this.#joining--;
  }

  /** A job from the queue begins. */
  start(job: NfpJob): void {
    this.#change({ kind: 'start', job, puts: [[jobKeys.job(job.uuid), encodeJob(job, { state: 'STARTED' })]] });
  }

  /** A field of the job has changed. */
  mark(job: NfpJob, call: NfpIncomingCall): void {
    this.#gathering.push({ kind: 'mark', job, puts: [[jobKeys.job(job.uuid), encodeJob(job)]], call });
  }

  /** A job has a result. Its call is not kept. */
  finish(job: NfpJob, state: NfpFinalState, result: Uint8Array, call: NfpIncomingCall | undefined): void {
    const { uuid } = job;
    const puts: [string, Uint8Array][] = [
      [jobKeys.job(uuid), encodeJob(job, { state })],
      [jobKeys.result(uuid), result],
    ];
    if (job.log.length > 0) puts.push([jobKeys.events(uuid), joinJson(job.log)]);
    this.#change({ kind: 'finish', job, puts, removes: [jobKeys.call(uuid)], state, call });
  }

  /** A finished job is forgotten. */
  remove(job: NfpJob, call: NfpIncomingCall | undefined): void {
    const removes = Object.values(jobKeys).map((keyOf) => keyOf(job.uuid));
    this.#change({ kind: 'remove', job, removes, call });
  }

  /** Writes the collected changes, unless a commit is pending or the store has just failed. */
  flush(): void {
    if (this.isStalled || this.#underWay.length > 0 || this.#gathering.length === 0) return;
    this.#underWay = this.#gathering;
    this.#gathering = [];
    const values = new Map<string, Uint8Array>();
    const removed = new Set<string>();
    for (const { puts = [], removes = [] } of this.#underWay) {
      for (const key of removes) removed.add(key);
      for (const [key, value] of puts) values.set(key, value);
    }
    const batch = { puts: [...values], removes: [...removed] };
    this.#out.push({ kind: 'commit', commit: ++this.#commit, batch });
  }

  /** The changes of the commit that has ended, either way; none if it is not the pending one. */
  settle(commit: number): readonly Write[] {
    return commit === this.#commit ? this.#underWay.splice(0) : [];
  }

  /** The store has failed: these are written again, before all others, after a while. */
  again(writes: readonly Write[]): void {
    this.#stalledUntil = this.#out.now + STORE_RETRY_MS;
    this.#gathering = [...writes, ...this.#gathering];
  }

  /** Uses the store again after a while. */
  recover(): void {
    if (!this.isStalled) this.#stalledUntil = -Infinity;
  }

  /** Stops waiting for a store that has failed, which might take for ever. Returns what will not be written. */
  abandon(): Write[] {
    if (this.#stalledUntil === -Infinity) return [];
    this.#stalledUntil = -Infinity;
    return this.#gathering.splice(0);
  }

  assertInvariants(): void {
    if (this.#acceptingBytes < 0 || this.#joining < 0)
      throw new Error('NfpWorkerSession: less than nothing is being accepted');
  }

  #change(write: Write & { readonly kind: NonNullable<NfpJob['change']> }): void {
    write.job.change = write.kind;
    this.#gathering.push(write);
  }
}

/** Answers waiting for a record to be read from the store: a few at a time, because results may be large. */
export class ResultReads {
  readonly #out: NfpOutput;
  readonly #waiting: { readonly call: NfpIncomingCall; readonly key: string }[] = [];
  readonly #underWay = new Map<number, NfpIncomingCall>();
  #taken = 0;
  #load = 0;

  constructor(out: NfpOutput) {
    this.#out = out;
  }

  /** True when nobody waits. */
  get isIdle(): boolean {
    return this.#underWay.size === 0 && this.#taken === this.#waiting.length;
  }

  /** A call wants this record. False if too many wait. */
  ask(call: NfpIncomingCall, key: string): boolean {
    if (this.#waiting.length - this.#taken >= WAITING_MAX) return false;
    this.#waiting.push({ call, key });
    return true;
  }

  /** Reads the next records, as many as may be read at the same time. */
  flush(): void {
    while (this.#underWay.size < READS_MAX) {
      const next = this.#waiting[this.#taken];
      if (next === undefined) return;
      this.#taken++;
      // Cheap on average: at least as many are removed as are moved.
      if (this.#taken * 2 >= this.#waiting.length) {
        this.#waiting.splice(0, this.#taken);
        this.#taken = 0;
      }
      this.#underWay.set(++this.#load, next.call);
      this.#out.push({ kind: 'load', load: this.#load, key: next.key });
    }
  }

  /** The load has ended; returns the call it was for. */
  settle(load: number): NfpIncomingCall | undefined {
    const call = this.#underWay.get(load);
    this.#underWay.delete(load);
    return call;
  }
}

function bytesOf(call: NfpIncomingCall): number {
  return (call.body[0] as Uint8Array).length;
}
