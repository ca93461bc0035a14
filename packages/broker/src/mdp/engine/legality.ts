/** Majordomo broker: which command of a worker is legal when (rules 7, 9, 10 and 15). */
import type { MdpClientRequest, MdpToBroker } from '@proj/frames/mdp';
import type { Legality } from '@proj/transport';

/** What the sender of a worker command is to us. */
type Standing = 'stranger' | 'idle' | 'busy';

/** What follows. */
type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** Count it, answer DISCONNECT. */
  | 'refuse'
  /** Count it, answer DISCONNECT, forget the worker, resend its job. */
  | 'expel';

/** What only workers say, and what nobody may. */
export type WorkerCommand = Exclude<MdpToBroker, MdpClientRequest>;

/**
 * Rules 7, 9, 10 and 15. Whatever a registered worker is accepted for, DISCONNECT excepted, is a sign of life (rule 12).
 */
export const LEGALITY: Legality<Standing, WorkerCommand['kind'], Verdict> = {
  stranger: {
    'worker-ready': ['accept', 'idle'],
    heartbeat: ['refuse'],
    'worker-partial': ['refuse'],
    'worker-final': ['refuse'],
    disconnect: ['accept'],
    malformed: ['drop'],
  },
  idle: {
    'worker-ready': ['expel', 'stranger'],
    heartbeat: ['accept'],
    'worker-partial': ['expel', 'stranger'],
    'worker-final': ['expel', 'stranger'],
    disconnect: ['accept', 'stranger'],
    malformed: ['expel', 'stranger'],
  },
  busy: {
    'worker-ready': ['expel', 'stranger'],
    heartbeat: ['accept'],
    'worker-partial': ['accept'],
    'worker-final': ['accept', 'idle'],
    disconnect: ['accept', 'stranger'],
    malformed: ['expel', 'stranger'],
  },
};

/** What moves a worker without a command of its own: a request that it is sent, and its loss (rule 14). */
export const MOVES = [
  ['idle', 'request sent', 'busy'],
  [['idle', 'busy'], 'lost', 'stranger'],
] as const;
