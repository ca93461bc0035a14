/** Majordomo broker: which command of a worker is legal when (rules 7, 9, 10 and 15). */
import type { MdpClientRequest, MdpToBroker } from '@proj/frames/mdp';

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

/** Rules 7, 9, 10 and 15. Whatever a registered worker is accepted for, DISCONNECT excepted, is a sign of life (rule 12). */
export const LEGALITY: Readonly<Record<WorkerCommand['kind'], Readonly<Record<Standing, Verdict>>>> = {
  'worker-ready': { stranger: 'accept', idle: 'expel', busy: 'expel' },
  heartbeat: { stranger: 'refuse', idle: 'accept', busy: 'accept' },
  'worker-partial': { stranger: 'refuse', idle: 'expel', busy: 'accept' },
  'worker-final': { stranger: 'refuse', idle: 'expel', busy: 'accept' },
  disconnect: { stranger: 'accept', idle: 'accept', busy: 'accept' },
  malformed: { stranger: 'drop', idle: 'expel', busy: 'expel' },
};
