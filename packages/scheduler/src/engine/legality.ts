/** EventMQ scheduler: what a broker's message and a due run mean in each state. Rules 1, 2 and 8 of section 11 of docs/protocols/emqp.md. */
import type { EmqpToScheduler } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport';

/** The state of the conversation with a broker. */
export type Conversation =
  /** None: not started, or ended. */
  | 'resting'
  /** None: the next one begins after a pause. */
  | 'waiting'
  /** INFORM was sent. */
  | 'informed'
  /** INFORM was acknowledged. */
  | 'registered';

type Verdict =
  /** Act on it; it is a sign of life. */
  | 'accept'
  /** Count it; not a sign of life, because a broker sends REPLYs to any peer. */
  | 'count'
  /** The broker has accepted us. */
  | 'register'
  /** Leave as `drain` does. */
  | 'leave'
  /** The connection has ended. */
  | 'lose'
  /** Count it as invalid; still a sign of life. */
  | 'drop'
  /** Nothing. */
  | 'ignore';

const OPEN = {
  ack: ['ignore'],
  schedule: ['accept'],
  unschedule: ['accept'],
  accepted: ['count'],
  result: ['count'],
  heartbeat: ['accept'],
  disconnect: ['leave'],
  bye: ['lose', 'waiting'],
  malformed: ['drop'],
} as const satisfies Legality<Conversation, EmqpToScheduler['kind'], Verdict>[Conversation];

const CLOSED = {
  ack: ['ignore'],
  schedule: ['ignore'],
  unschedule: ['ignore'],
  accepted: ['ignore'],
  result: ['ignore'],
  heartbeat: ['ignore'],
  disconnect: ['ignore'],
  bye: ['ignore'],
  malformed: ['ignore'],
} as const satisfies Legality<Conversation, EmqpToScheduler['kind'], Verdict>[Conversation];

/** Messages of the broker. An ACK of anything but our INFORM is ignored. */
export const LEGALITY: Legality<Conversation, EmqpToScheduler['kind'], Verdict> = {
  resting: CLOSED,
  waiting: CLOSED,
  informed: { ...OPEN, ack: ['register', 'registered'] },
  registered: OPEN,
};

/** Transitions without a message. */
export const MOVES = [
  ['resting', 'start', 'informed'],
  ['waiting', 'pause over', 'informed'],
  ['informed', 'no ACK, or connection lost', 'waiting'],
  ['registered', 'silence, or connection lost', 'waiting'],
  [['waiting', 'informed', 'registered'], 'end', 'resting'],
] as const;

/** The state of a job's run. */
export type RunState =
  /** The next run is not due. */
  | 'idle'
  /** The state after the run is being written; then it runs. */
  | 'writing'
  /** The run is waiting for a broker. */
  | 'held'
  /** It is waiting for a broker, while the state after a later one is being written. */
  | 'held, writing'
  /** Unscheduled or replaced. */
  | 'gone';

type RunVerdict =
  /** Write the state after the run, then run. */
  | 'run'
  /** Count a skipped run, and write the time of the next one. */
  | 'skip'
  /** Count a run that is skipped. */
  | 'skip unwritten'
  /** Keep the run for the next broker. */
  | 'hold'
  | 'ignore';

/** A run that is due, and one whose REQUEST was not delivered. */
export const RUNS: Legality<RunState, 'due' | 'unsent', RunVerdict> = {
  idle: { due: ['run', 'writing'], unsent: ['hold', 'held'] },
  writing: { due: ['skip unwritten'], unsent: ['hold', 'held, writing'] },
  held: { due: ['skip', 'held, writing'], unsent: ['hold'] },
  'held, writing': { due: ['skip unwritten'], unsent: ['hold'] },
  gone: { due: ['ignore'], unsent: ['ignore'] },
};

/** Transitions without these events. */
export const RUN_MOVES = [
  ['writing', 'written, sent', 'idle'],
  ['writing', 'written, no broker', 'held'],
  ['held, writing', 'written', 'held'],
  ['held', 'broker is there', 'idle'],
  ['held, writing', 'broker is there', 'writing'],
  [['idle', 'writing', 'held', 'held, writing'], 'unscheduled or replaced', 'gone'],
] as const;
