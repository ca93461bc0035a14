/** NFP worker: what each call about a job does, depending on the job's state. Worker rules 4 to 9 of docs/protocols/nfp.md. */
import type { Legality } from '@proj/transport/engine';
import type { NfpIncomingCall } from './events.js';
import type { NfpJob } from './state.js';

/**
 * The state of a job. `accepting`, `starting`, `finishing` and `removing`: a change is being stored. `asking`: it runs and waits for its
 * client's input. `interrupted`: the worker is leaving, and the next start decides. `final`: it has a result.
 */
type JobStanding = 'unknown' | 'waiting' | 'running' | 'asking' | 'interrupted' | 'final' | (typeof CHANGING)[Change];

/** Every call except `mmi`, which does not concern a job. */
type JobCommand = Exclude<NfpIncomingCall['command'], 'mmi'>;

/** The verdicts. */
type Verdict =
  /** POST: accept it as a new job, or reject it. */
  | 'accept'
  /** POST: accept it again if it has the same meaning, otherwise reject it. */
  | 'repeat'
  /** Handle it when the change is durable. */
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
  /** Pass the body to the task, or take it as the answer to its question. */
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

/** Transitions without a call. */
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

/** The state of a job; `undefined` for an unknown one. */
export function standingOf(job: NfpJob | undefined): JobStanding {
  if (job === undefined) return 'unknown';
  if (job.change !== undefined) return CHANGING[job.change];
  if (job.isFinal) return 'final';
  if (job.run !== undefined) return job.input === undefined ? 'running' : 'asking';
  return job.state === 'PENDING' ? 'waiting' : 'interrupted';
}
