/** NFP worker: what each call about a job does, by where the job is. Worker rules 4 to 9 of docs/protocols/nfp.md. */
import type { Legality } from '@proj/transport/engine';
import type { NfpIncomingCall } from './events.js';
import type { NfpJob } from './state.js';

/**
 * Where a job is. `accepting`, `starting`, `finishing` and `removing`: a change of it is on its way to the store. `asking`: it runs and waits
 * for its client's input. `interrupted`: the worker is leaving, and the next start decides. `final`: it has a result.
 */
type JobStanding = 'unknown' | 'waiting' | 'running' | 'asking' | 'interrupted' | 'final' | (typeof CHANGING)[Change];

/** Every call but `mmi`, which is not about a job. */
type JobCommand = Exclude<NfpIncomingCall['command'], 'mmi'>;

/** What follows. */
type Verdict =
  /** POST: accept it as a new job, or refuse it. */
  | 'accept'
  /** POST: accept it again if it asks for the same, else refuse it. */
  | 'repeat'
  /** Take it up when the change is durable. */
  | 'park'
  | 'not-found'
  /** Answer with the state, or the open question. */
  | 'status'
  /** Answer with the result. */
  | 'read'
  /** It ends as cancelled without having run. */
  | 'cancel'
  /** Tell the task to stop. */
  | 'abort'
  | 'remove'
  /** Give the body to the task, or take it for the answer to its question. */
  | 'deliver'
  /** Answer that the worker is leaving. */
  | 'refuse'
  /** Count it. */
  | 'drop';

type Change = NonNullable<NfpJob['change']>;

const CHANGING = { accept: 'accepting', start: 'starting', finish: 'finishing', remove: 'removing' } as const;

export const LEGALITY: Legality<JobStanding, JobCommand, Verdict> = {
  unknown: { post: ['accept', 'accepting', 'unknown'], get: ['not-found'], delete: ['not-found'], put: ['drop'] },
  accepting: { post: ['park'], get: ['park'], delete: ['park'], put: ['park'] },
  waiting: { post: ['repeat'], get: ['status'], delete: ['cancel', 'finishing'], put: ['drop'] },
  starting: { post: ['park'], get: ['status'], delete: ['park'], put: ['park'] },
  running: { post: ['repeat'], get: ['status'], delete: ['abort'], put: ['deliver'] },
  asking: { post: ['repeat'], get: ['status'], delete: ['abort'], put: ['deliver', 'running', 'asking'] },
  interrupted: { post: ['repeat'], get: ['status'], delete: ['refuse'], put: ['drop'] },
  finishing: { post: ['park'], get: ['status'], delete: ['park'], put: ['drop'] },
  final: { post: ['repeat'], get: ['read'], delete: ['remove', 'removing'], put: ['drop'] },
  removing: { post: ['park'], get: ['read'], delete: ['park'], put: ['drop'] },
};

/** What moves a job without a call. */
export const MOVES = [
  ['accepting', 'durable', 'waiting'],
  ['accepting', 'durable, with a slot', 'running'],
  ['accepting', 'store failed', 'unknown'],
  ['waiting', 'slot free', 'starting'],
  ['starting', 'durable', 'running'],
  ['starting', 'store failed', 'waiting'],
  ['running', 'task asks', 'asking'],
  ['asking', 'no answer in time', 'running'],
  [['running', 'asking'], 'task ended', 'finishing'],
  [['running', 'asking'], 'stopped by a restart', 'waiting'],
  [['running', 'asking'], 'worker leaves', 'interrupted'],
  ['finishing', 'durable', 'final'],
  ['final', 'expired', 'removing'],
  ['removing', 'durable', 'unknown'],
] as const;

/** Where a job is; `undefined` is one that is not known. */
export function standingOf(job: NfpJob | undefined): JobStanding {
  if (job === undefined) return 'unknown';
  if (job.change !== undefined) return CHANGING[job.change];
  if (job.isFinal) return 'final';
  if (job.run !== undefined) return job.input === undefined ? 'running' : 'asking';
  return job.state === 'PENDING' ? 'waiting' : 'interrupted';
}
