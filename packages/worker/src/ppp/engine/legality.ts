/** Paranoid Pirate worker: which queue message is legal in which state (worker rules 5, 9 and 10). */
import type { PppToWorker } from '@proj/frames/ppp';
import type { Legality } from '@proj/transport/engine';

/** The state of the connection. `full`: a handler runs and no more requests may wait. `draining` wins over the others. */
type State = 'closed' | 'idle' | 'busy' | 'full' | 'draining';

/** The verdicts. */
type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Count it; a request is not run. */
  | 'drop'
  /** It belongs to a connection that has ended. */
  | 'ignore';

/** Every message of an open connection is a sign of life (rule 5). */
export const LEGALITY: Legality<State, PppToWorker['kind'], Verdict> = {
  closed: { request: ['ignore'], heartbeat: ['ignore'], malformed: ['ignore'] },
  idle: { request: ['accept', 'busy'], heartbeat: ['accept'], malformed: ['drop'] },
  busy: { request: ['accept', 'busy', 'full'], heartbeat: ['accept'], malformed: ['drop'] },
  full: { request: ['drop'], heartbeat: ['accept'], malformed: ['drop'] },
  draining: { request: ['drop'], heartbeat: ['accept'], malformed: ['drop'] },
};

/** Transitions that the worker makes itself. */
export const MOVES = [
  ['closed', 'READY sent', 'idle'],
  ['busy', 'last job ended', 'idle'],
  ['full', 'job ended', 'busy'],
  [['busy', 'full'], 'drain', 'draining'],
  [['idle', 'busy', 'full', 'draining'], 'lost or left', 'closed'],
] as const;
