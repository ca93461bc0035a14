/** Majordomo broker: which worker command is legal in which state (rules 7, 9, 10 and 15). */
import type { MdpClientRequest, MdpToBroker } from '@proj/frames/mdp';
import type { Legality } from '@proj/transport/engine';

/** The role of the sender of a worker command. */
type Standing = 'stranger' | 'idle' | 'busy';

type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** Count it, answer DISCONNECT. */
  | 'refuse'
  /** Count it, answer DISCONNECT, forget the worker, resend its job. */
  | 'expel';

/** Commands that only workers may send, and malformed messages. */
export type WorkerCommand = Exclude<MdpToBroker, MdpClientRequest>;

/** Registered, without a job. */
const IDLE = {
  'worker-ready': ['expel', 'stranger'],
  heartbeat: ['accept'],
  'worker-partial': ['expel', 'stranger'],
  'worker-final': ['expel', 'stranger'],
  disconnect: ['accept', 'stranger'],
  malformed: ['expel', 'stranger'],
} as const;

/**
 * Rules 7, 9, 10 and 15. Every accepted command of a registered worker but DISCONNECT is a sign of life (rule 12). A reply to another
 * client than the job's also ends the worker.
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
  idle: IDLE,
  busy: { ...IDLE, 'worker-partial': ['accept', 'busy', 'stranger'], 'worker-final': ['accept', 'idle', 'stranger'] },
};

/** Transitions without a command from the worker: a request sent to it, and its loss (rule 14). */
export const MOVES = [
  ['idle', 'request sent', 'busy'],
  [['idle', 'busy'], 'lost', 'stranger'],
] as const;
