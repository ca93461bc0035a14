/** Majordomo worker: which broker command is legal in which state (worker rules 4, 7 and 10). */
import type { MdpToWorker } from '@proj/frames/mdp';
import type { Legality } from '@proj/transport/engine';

/** The state of the conversation. `full`: a handler runs and a request waits. `leaving` wins over the others, except with `drainFinishes`. */
type State = 'closed' | 'idle' | 'busy' | 'full' | 'leaving';

/** The verdicts. */
type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Count it; a request is not run. */
  | 'drop'
  /** It belongs to a conversation that has ended. */
  | 'ignore';

/** Independent of the load. */
const OPEN = { heartbeat: ['accept'], disconnect: ['accept', 'closed'], malformed: ['drop'] } as const;

/** Every legal command, and every malformed one with a worker's header, is a sign of life (rule 3). */
export const LEGALITY: Legality<State, MdpToWorker['kind'], Verdict> = {
  closed: { 'worker-request': ['ignore'], heartbeat: ['ignore'], disconnect: ['ignore'], malformed: ['ignore'] },
  idle: { ...OPEN, 'worker-request': ['accept', 'busy'] },
  busy: { ...OPEN, 'worker-request': ['accept', 'full'] },
  full: { ...OPEN, 'worker-request': ['drop'] },
  leaving: { ...OPEN, 'worker-request': ['drop'] },
};

/** Transitions that the worker makes itself. */
export const MOVES = [
  ['closed', 'READY sent', 'idle'],
  ['busy', 'job ended', 'idle'],
  ['full', 'job ended', 'busy'],
  [['busy', 'full'], 'drain, or the first endpoint is back', 'leaving'],
  [['idle', 'busy', 'full', 'leaving'], 'lost or left', 'closed'],
] as const;
