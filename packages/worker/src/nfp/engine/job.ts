/** A job at an NFP worker: what is known in memory, and the record on the disk that brings it back after a crash. */
import { fromLatin1, latin1 } from '@proj/frames';
import { Deadline } from '@proj/heartbeat';
import type { HeapDeadline } from '@proj/heartbeat';

import type { NfpToWorker } from '@proj/frames/nfp';
import type { NfpInputRequest } from './bodies.js';

/** Where a job is in its life, in the words of the wire. */
export type NfpJobState = 'PENDING' | 'STARTED' | 'WAITING_CLIENT_INPUT' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** States in which a job has a result, and no other state follows. */
export type NfpFinalState = Extract<NfpJobState, 'COMPLETED' | 'FAILED' | 'CANCELLED'>;

/** A call of the broker, in either shape. */
export type NfpIncomingCall = Extract<NfpToWorker, { kind: 'worker-call' | 'worker-table-call' }>;

/** Whom an answer is for: the client's address as it came, or nobody by name where the call was in the shape of the tables. */
export type NfpReplyTo = Uint8Array | undefined;

/** What of a job is on the disk, besides the body of the call and the result. */
export interface NfpStoredJob {
  readonly uuid: string;
  /** Place in the order of acceptance. */
  readonly seq: number;
  readonly task: string;
  /** Tells calls apart, see `canonicalCall`. */
  readonly digest: string;
  readonly timeoutMs: number;
  readonly replyTo: NfpReplyTo;
  readonly state: Exclude<NfpJobState, 'WAITING_CLIENT_INPUT'>;
  /** Runs begun. */
  readonly runs: number;
  /** It was deleted while it ran. */
  readonly cancelling: boolean;
  /** Wall clock, in milliseconds since 1970; 0 when that is still to come, or was not noted yet by an earlier release. */
  readonly receivedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A job in memory. Its {@link state} is what the disk says; a change on its way there is its {@link change}. */
export class NfpJob implements NfpStoredJob {
  readonly uuid: string;
  readonly seq: number;
  readonly task: string;
  readonly digest: string;
  readonly timeoutMs: number;
  replyTo: NfpReplyTo;
  state: NfpStoredJob['state'];
  runs: number;
  cancelling: boolean;
  readonly receivedAt: number;
  startedAt: number;
  endedAt: number;
  /** The change that is on its way to the disk. What asks for another one meanwhile waits in {@link parked}. */
  change: 'accept' | 'start' | 'finish' | 'remove' | undefined;
  parked: NfpIncomingCall[] | undefined;
  /** Number of the run, from the decision to start it until its task has ended. */
  run: number | undefined;
  /** The question that waits for an answer. */
  input: NfpInputRequest | undefined;
  inputDue: HeapDeadline<NfpJob> | undefined;
  /** The last events of the run, as JSON. */
  log: Uint8Array[] = [];
  /** Its place among the finished ones. */
  readonly expiry = new Deadline<NfpJob>(this);
  /** Its neighbours in the queue. */
  previous: NfpJob | undefined;
  next: NfpJob | undefined;

  constructor(stored: NfpStoredJob) {
    this.uuid = stored.uuid;
    this.seq = stored.seq;
    this.task = stored.task;
    this.digest = stored.digest;
    this.timeoutMs = stored.timeoutMs;
    this.replyTo = stored.replyTo;
    this.state = stored.state;
    this.runs = stored.runs;
    this.cancelling = stored.cancelling;
    this.receivedAt = stored.receivedAt;
    this.startedAt = stored.startedAt;
    this.endedAt = stored.endedAt;
  }

  /** What GET is told. */
  get shownState(): NfpJobState {
    return this.state === 'STARTED' && this.input !== undefined ? 'WAITING_CLIENT_INPUT' : this.state;
  }

  /** True when there is a result. */
  get isFinal(): boolean {
    return this.state !== 'PENDING' && this.state !== 'STARTED';
  }
}

/** Keys of the records of one job. */
export const jobKeys = {
  job: (uuid: string) => `job/${uuid}`,
  call: (uuid: string) => `call/${uuid}`,
  result: (uuid: string) => `result/${uuid}`,
  events: (uuid: string) => `events/${uuid}`,
};

/** What the keys of all jobs begin with. */
export const JOB_PREFIX = 'job/';

const toUtf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** The record of a job, as it is to be from now on. */
export function encodeJob(job: NfpStoredJob, changes: Partial<NfpStoredJob> = {}): Uint8Array {
  const { replyTo, uuid, seq, task, digest, timeoutMs, state, runs, cancelling, receivedAt, startedAt, endedAt } = {
    ...fieldsOf(job),
    ...changes,
  };
  const client = replyTo === undefined ? null : latin1(replyTo);
  const fields = {
    uuid,
    seq,
    task,
    digest,
    timeoutMs,
    client,
    state,
    runs,
    cancelling,
    receivedAt,
    startedAt,
    endedAt,
  };
  return toUtf8.encode(JSON.stringify({ v: 1, ...fields }));
}

/** The job in a record; `undefined` when it is none of ours. */
export function decodeJob(record: Uint8Array): NfpStoredJob | undefined {
  try {
    const value = JSON.parse(fromUtf8.decode(record)) as { v?: unknown; client: string | null } & NfpStoredJob;
    if (value.v !== 1 || typeof value.uuid !== 'string' || typeof value.seq !== 'number') return undefined;
    return { ...fieldsOf(value), replyTo: value.client === null ? undefined : fromLatin1(value.client) };
  } catch {
    return undefined;
  }
}

function fieldsOf(job: NfpStoredJob): NfpStoredJob {
  const { uuid, seq, task, digest, timeoutMs, replyTo, state, runs, cancelling, startedAt, endedAt } = job;
  // An earlier release has not written it.
  const { receivedAt = 0 } = job as Partial<NfpStoredJob>;
  return { uuid, seq, task, digest, timeoutMs, replyTo, state, runs, cancelling, receivedAt, startedAt, endedAt };
}
