/** Paranoid Pirate: which message of a worker is legal in which state (rules 1, 6, 9 and 10). */
import type { PppToQueue } from '@proj/frames/ppp';
import type { Legality } from '@proj/transport/engine';

type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** The worker has forgotten its job: resend the job and register the worker anew. */
  | 'restart';

/** Rules 1, 6 and 9. Every message from a registered worker is also a sign of life (rule 10). */
export const LEGALITY: Legality<'stranger' | 'idle' | 'busy', PppToQueue['kind'], Verdict> = {
  stranger: {
    ready: ['accept', 'idle'],
    heartbeat: ['drop'],
    reply: ['drop'],
    malformed: ['drop'],
  },
  idle: {
    ready: ['accept'],
    heartbeat: ['accept'],
    reply: ['drop'],
    malformed: ['drop'],
  },
  busy: {
    ready: ['restart', 'idle'],
    heartbeat: ['accept'],
    // Rule 9: a reply to another client leaves the worker busy.
    reply: ['accept', 'idle', 'busy'],
    malformed: ['drop'],
  },
};

/** Transitions without a message from the worker. */
export const MOVES = [
  ['idle', 'request sent', 'busy'],
  [['idle', 'busy'], 'lost', 'stranger'],
] as const;
