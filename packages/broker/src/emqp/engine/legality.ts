/** EventMQ broker: what each command leads to. One table for frontend and backend, which understand the same, and one for the admin port. */
import type { EmqpToAdminPort, EmqpToBroker } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport/engine';
import type { EmqpMessageDrop } from './counters.js';

/**
 * What the sender is to the broker. `leaving`: a worker that has left with jobs it may still finish. `foreigner`: someone is registered under the
 * same routing id, and the sender's key may not serve what that one serves (rule 33).
 */
export type Standing = 'stranger' | 'worker' | 'scheduler' | 'leaving' | 'foreigner';

type Verdict =
  | 'accept'
  /** Count it, answer nothing. */
  | 'drop'
  /** The same, for bad input, which has its own reason. */
  | 'ignore'
  /** Count it, and say farewell once, so that the peer registers again. */
  | 'farewell';

/** Rules 2, 4, 5, 6, 8, 18, 20 and 33. Whatever comes from anyone but a foreigner, except DISCONNECT and a farewell, is a sign of life (rule 6). */
export const LEGALITY: Legality<Standing, EmqpToBroker['kind'], Verdict> = {
  stranger: {
    'inform-worker': ['accept', 'worker'],
    'inform-scheduler': ['accept', 'scheduler'],
    ready: ['drop'],
    result: ['drop'],
    heartbeat: ['farewell'],
    bye: ['accept'],
    request: ['accept'],
    schedule: ['accept'],
    unschedule: ['accept'],
    publish: ['accept'],
    disconnect: ['accept'],
    malformed: ['ignore'],
  },
  worker: {
    'inform-worker': ['accept', 'worker'],
    'inform-scheduler': ['accept', 'scheduler'],
    ready: ['accept'],
    result: ['accept'],
    heartbeat: ['accept'],
    bye: ['accept', 'leaving', 'stranger'],
    request: ['accept'],
    schedule: ['accept'],
    unschedule: ['accept'],
    publish: ['accept'],
    disconnect: ['accept'],
    malformed: ['ignore'],
  },
  scheduler: {
    'inform-worker': ['accept', 'worker'],
    'inform-scheduler': ['accept', 'scheduler'],
    ready: ['drop'],
    result: ['drop'],
    heartbeat: ['accept'],
    bye: ['accept', 'stranger'],
    request: ['accept'],
    schedule: ['accept'],
    unschedule: ['accept'],
    publish: ['accept'],
    disconnect: ['accept'],
    malformed: ['ignore'],
  },
  leaving: {
    'inform-worker': ['accept', 'worker'],
    'inform-scheduler': ['accept', 'scheduler'],
    ready: ['drop'],
    result: ['accept', 'leaving', 'stranger'],
    heartbeat: ['accept'],
    bye: ['accept'],
    request: ['accept'],
    schedule: ['accept'],
    unschedule: ['accept'],
    publish: ['accept'],
    disconnect: ['accept'],
    malformed: ['ignore'],
  },
  foreigner: {
    'inform-worker': ['drop'],
    'inform-scheduler': ['drop'],
    ready: ['drop'],
    result: ['drop'],
    heartbeat: ['drop'],
    bye: ['drop'],
    request: ['accept'],
    schedule: ['accept'],
    unschedule: ['accept'],
    publish: ['accept'],
    disconnect: ['accept'],
    malformed: ['drop'],
  },
};

/** The reason under which a command that its sender may not use is counted. */
export const DROPPED_AS: Readonly<Record<Exclude<Standing, 'worker'>, EmqpMessageDrop>> = {
  stranger: 'unknown-peer',
  leaving: 'unknown-peer',
  scheduler: 'unexpected',
  foreigner: 'not-allowed',
};

/** Moves that no command causes (rules 6, 16, 18, 27 and 33). */
export const MOVES = [
  [['worker', 'scheduler'], 'silent, gone, not allowed', 'stranger'],
  ['worker', 'unreachable, congested', 'leaving'],
  ['worker', 'the broker stops', 'leaving'],
  ['scheduler', 'unreachable, congested, the broker stops', 'stranger'],
  ['leaving', 'silent, gone, no job left', 'stranger'],
] as const;

/** Whether the broker serves, or has been told to stop and waits for its workers. */
type Phase = 'serving' | 'draining';

/** Rules 26 and 28. */
export const ADMIN: Legality<Phase, EmqpToAdminPort['kind'], 'answer' | 'stop' | 'ignore'> = {
  serving: {
    status: ['answer'],
    'show-workers': ['answer'],
    'show-schedulers': ['answer'],
    disconnect: ['stop', 'draining'],
    hello: ['ignore'],
    malformed: ['ignore'],
  },
  draining: {
    status: ['answer'],
    'show-workers': ['answer'],
    'show-schedulers': ['answer'],
    disconnect: ['stop'],
    hello: ['ignore'],
    malformed: ['ignore'],
  },
};
