/** NFP broker: what each command means. One table for workers, one for clients' calls, one for a job at one of its workers. */
import type { NfpCall, NfpClientCall, NfpClientOpen, NfpMalformed, NfpToBroker } from '@proj/frames/nfp';
import type { Legality } from '@proj/transport/engine';
import type { PartState } from './records.js';

/** Commands of workers that the decoder understood. */
export type WorkerCommand = Exclude<NfpToBroker, NfpClientCall | NfpClientOpen | NfpMalformed>;

/** The role of the sender of a worker command. `away`: registered, but its connection has ended. */
type Standing = 'stranger' | 'away' | 'registered';

/** `ready-elsewhere`: READY for another service. `unknown`: an unknown command or status. `malformed`: any other fault. */
type WorkerEvent = WorkerCommand['kind'] | 'ready-elsewhere' | 'unknown' | 'malformed';

type WorkerVerdict =
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** Count it, answer DISCONNECT. */
  | 'refuse'
  /** The registration continues with this connection; then as registered. */
  | 'resume'
  /** DISCONNECT, and the registration ends. */
  | 'expel';

/** Not registered. */
const STRANGER = {
  'worker-open': ['accept'],
  'worker-ready': ['accept', 'registered'],
  'ready-elsewhere': ['accept', 'registered'],
  'worker-keepalive': ['refuse'],
  'worker-answer': ['refuse'],
  'worker-table-answer': ['refuse'],
  'worker-disconnect': ['accept'],
  unknown: ['drop'],
  malformed: ['drop'],
} as const;

/** Rules 3, 4, 7, 8 and 16. Everything accepted from a registered worker, except DISCONNECT, is a sign of life (rule 6). */
export const WORKERS: Legality<Standing, WorkerEvent, WorkerVerdict> = {
  stranger: STRANGER,
  away: {
    ...STRANGER,
    'worker-keepalive': ['resume', 'registered'],
    'worker-answer': ['resume', 'registered'],
    'worker-table-answer': ['resume', 'registered'],
    'worker-disconnect': ['accept', 'stranger'],
  },
  registered: {
    'worker-open': ['accept'],
    'worker-ready': ['accept'],
    'ready-elsewhere': ['expel', 'stranger'],
    'worker-keepalive': ['accept'],
    'worker-answer': ['accept'],
    'worker-table-answer': ['accept'],
    'worker-disconnect': ['accept', 'stranger'],
    unknown: ['drop'],
    malformed: ['expel', 'stranger'],
  },
};

/** Transitions of a worker that none of its commands causes (rules 5, 7, 13 and 18). */
export const WORKER_MOVES = [
  ['registered', 'connection ended, unreachable, dismissed', 'away'],
  ['registered', 'silent, congested, not allowed', 'stranger'],
  ['away', 'silent', 'stranger'],
] as const;

/** The state of the job that a call names. `waiting`: for a first worker of its service. `dispatched`: anything else that is remembered. */
export type JobState = 'unknown' | 'waiting' | 'dispatched';

/** `elsewhere`: the uuid is known, but the call names another service. */
type CallEvent = NfpCall | 'post-elsewhere' | 'ask-elsewhere';

type CallVerdict =
  /** Send the job to its workers, let it wait for them, or refuse it. */
  | 'post'
  /** Forward the call to the workers that the target matches. */
  | 'relay'
  /** Say that the job waits: 300 if the client understands it. */
  | 'pending'
  /** Remove the job from the queue: 200 CANCELLED. */
  | 'cancel'
  /** 400, or nothing for PUT. */
  | 'refuse';

/** The job is not waiting. */
const PASSED_ON = {
  post: ['post', 'waiting', 'dispatched'],
  get: ['relay'],
  delete: ['relay'],
  put: ['relay'],
  mmi: ['relay'],
  'post-elsewhere': ['post', 'waiting', 'dispatched'],
  'ask-elsewhere': ['relay'],
} as const;

/** Rules 9, 11, 12 and 13. A POST to `mmi.service.worker` posts no job: it is relayed. */
export const CALLS: Legality<JobState, CallEvent, CallVerdict> = {
  unknown: PASSED_ON,
  waiting: {
    post: ['pending'],
    get: ['pending'],
    delete: ['cancel', 'unknown'],
    put: ['refuse'],
    mmi: ['refuse'],
    'post-elsewhere': ['refuse'],
    'ask-elsewhere': ['relay'],
  },
  dispatched: PASSED_ON,
};

/** Transitions of a job that no call causes (rules 12, 13 and 19). */
export const JOB_MOVES = [
  ['waiting', 'a worker registers', 'dispatched'],
  ['waiting', 'expired', 'unknown'],
  ['dispatched', 'its worker is lost, no other is there', 'waiting'],
  ['dispatched', 'given up, forgotten', 'unknown'],
] as const;

/** What a worker says about a job: 200, 404, any other RESPONSE from 400 on, or anything else. */
export type Word = 'result' | 'job-unknown' | 'failure' | 'sign';

type WordVerdict =
  | 'pass'
  /** Forward it; the job has ended at this worker. */
  | 'settle'
  /** The worker has lost a job for `any`: it goes to another worker, and the client is not informed. For any other job, forward it. */
  | 'hand-over'
  /** The job is another worker's: do not forward it. */
  | 'withhold';

/** Rule 13. `none`: the broker does not follow the job at this worker. */
export const PARTS: Legality<PartState | 'none', Word, WordVerdict> = {
  none: { result: ['pass'], 'job-unknown': ['pass'], failure: ['pass'], sign: ['pass'] },
  held: { result: ['settle', 'none'], 'job-unknown': ['pass'], failure: ['pass'], sign: ['pass'] },
  sent: {
    result: ['settle', 'none'],
    'job-unknown': ['settle', 'none'],
    failure: ['settle', 'none'],
    sign: ['pass', 'taken'],
  },
  taken: {
    result: ['settle', 'none'],
    'job-unknown': ['hand-over', 'moved'],
    failure: ['pass'],
    sign: ['pass'],
  },
  moved: { result: ['withhold'], 'job-unknown': ['withhold'], failure: ['withhold'], sign: ['withhold'] },
};

/** Transitions of a part that no word of its worker causes. */
export const PART_MOVES = [
  ['none', 'posted, its worker is absent', 'held'],
  ['none', 'posted', 'sent'],
  ['held', 'the worker registers', 'sent'],
  ['held', 'expired', 'none'],
  ['sent', 'worker lost, goes to another', 'moved'],
  ['taken', 'worker not back in time, goes to another', 'moved'],
  [['sent', 'taken'], 'worker not back in time, goes to no other', 'none'],
  ['moved', 'posted to it again', 'sent'],
] as const;
