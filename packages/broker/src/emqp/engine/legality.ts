/** EventMQ broker: what each command means. One table for frontend and backend, which have the same commands, and one for the admin port. */
import type { EmqpToAdminPort, EmqpToBroker } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport/engine';
import type { EmqpMessageDrop } from './counters.js';

/**
 * The sender's role. `leaving`: a worker that has left with jobs it may still finish. `foreigner`: another peer is registered under the same
 * routing id, and the sender's key may not serve what that one serves (rule 33).
 */
export type Standing = 'stranger' | 'worker' | 'scheduler' | 'leaving' | 'foreigner';

type Verdict =
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** The same for invalid input, which has its own reason. */
  | 'ignore'
  /** Count it, and say farewell once, so that the peer registers again. */
  | 'farewell';

/** What any peer may send; rights to queues, topics and the broker itself are checked afterwards. */
const OF_ANYBODY = {
  request: ['accept'],
  schedule: ['accept'],
  unschedule: ['accept'],
  publish: ['accept'],
  disconnect: ['accept'],
} as const;

/** Not registered. A peer may register, even again. */
const STRANGER = {
  'inform-worker': ['accept', 'worker'],
  'inform-scheduler': ['accept', 'scheduler'],
  ready: ['drop'],
  result: ['drop'],
  heartbeat: ['farewell'],
  bye: ['accept'],
  ...OF_ANYBODY,
  malformed: ['ignore'],
} as const;

/** Rules 2, 4, 5, 6, 8, 18, 20 and 33. Every message from anyone but a foreigner, except DISCONNECT and a farewell, is a sign of life (rule 6). */
export const LEGALITY: Legality<Standing, EmqpToBroker['kind'], Verdict> = {
  stranger: STRANGER,
  worker: {
    ...STRANGER,
    ready: ['accept'],
    result: ['accept'],
    heartbeat: ['accept'],
    bye: ['accept', 'leaving', 'stranger'],
  },
  scheduler: { ...STRANGER, heartbeat: ['accept'], bye: ['accept', 'stranger'] },
  leaving: { ...STRANGER, result: ['accept', 'leaving', 'stranger'], heartbeat: ['accept'] },
  foreigner: {
    'inform-worker': ['drop'],
    'inform-scheduler': ['drop'],
    ready: ['drop'],
    result: ['drop'],
    heartbeat: ['drop'],
    bye: ['drop'],
    ...OF_ANYBODY,
    malformed: ['drop'],
  },
};

/** The drop reason of a command that its sender may not use. */
export const DROPPED_AS: Readonly<Record<Exclude<Standing, 'worker'>, EmqpMessageDrop>> = {
  stranger: 'unknown-peer',
  leaving: 'unknown-peer',
  scheduler: 'unexpected',
  foreigner: 'not-allowed',
};

/** Transitions that no command causes (rules 6, 16, 18, 27 and 33). */
export const MOVES = [
  [['worker', 'scheduler'], 'silent, gone, not allowed', 'stranger'],
  ['worker', 'unreachable, congested', 'leaving'],
  ['worker', 'dismissed, the broker stops', 'leaving'],
  ['scheduler', 'unreachable, congested, dismissed, the broker stops', 'stranger'],
  ['leaving', 'silent, gone, no job left', 'stranger'],
] as const;

/** Whether the broker serves, or is stopping and waits for its workers. */
type Phase = 'serving' | 'draining';

const QUESTIONS = {
  status: ['answer'],
  'show-workers': ['answer'],
  'show-schedulers': ['answer'],
  hello: ['ignore'],
  malformed: ['ignore'],
} as const;

/** Rules 26 and 28. */
export const ADMIN: Legality<Phase, EmqpToAdminPort['kind'], 'answer' | 'stop' | 'ignore'> = {
  serving: { ...QUESTIONS, disconnect: ['stop', 'draining'] },
  draining: { ...QUESTIONS, disconnect: ['stop'] },
};
