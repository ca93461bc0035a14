/** EventMQ scheduler: what a message of the broker, and a due run, mean in each state. Rules 1, 2 and 8 of section 11 of docs/protocols/emqp.md. */
import type { EmqpToScheduler } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport';

/** The conversation with a broker. */
export type Conversation =
  /** None: not started, or ended. */
  | 'resting'
  /** None: the next one begins after a pause. */
  | 'waiting'
  /** INFORM is out. */
  | 'informed'
  /** INFORM was acknowledged. */
  | 'registered';

type Verdict =
  /** Act on it; it is a sign of life. */
  | 'accept'
  /** Count it; no sign of life, for a broker gives REPLYs to anybody. */
  | 'count'
  /** The broker knows us. */
  | 'register'
  /** Leave as `drain` does. */
  | 'leave'
  /** The connection is over. */
  | 'lose'
  /** Count it as bad; it is a sign of life. */
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

/** What moves a conversation without a message. */
export const MOVES = [
  ['resting', 'start', 'informed'],
  ['waiting', 'pause over', 'informed'],
  ['informed', 'no ACK, or connection lost', 'waiting'],
  ['registered', 'silence, or connection lost', 'waiting'],
  [['waiting', 'informed', 'registered'], 'end', 'resting'],
] as const;

/** The run of a job. */
export type RunState =
  /** The next run is not due. */
  | 'idle'
  /** The state after the run is being written; the run follows. */
  | 'writing'
  /** The run waits for a broker. */
  | 'held'
  /** It waits for a broker, while the state after a later one is being written. */
  | 'held, writing'
  /** Unscheduled or replaced. */
  | 'gone';

type RunVerdict =
  /** Write the state after the run, then run. */
  | 'run'
  /** Count a run that is skipped, and write the time of the next one. */
  | 'skip'
  /** Count a run that is skipped. */
  | 'skip unwritten'
  /** Keep the run for the next broker. */
  | 'hold'
  | 'ignore';

/** A run that is due, and one whose REQUEST did not go out. */
export const RUNS: Legality<RunState, 'due' | 'unsent', RunVerdict> = {
  idle: { due: ['run', 'writing'], unsent: ['hold', 'held'] },
  writing: { due: ['skip unwritten'], unsent: ['hold', 'held, writing'] },
  held: { due: ['skip', 'held, writing'], unsent: ['hold'] },
  'held, writing': { due: ['skip unwritten'], unsent: ['hold'] },
  gone: { due: ['ignore'], unsent: ['ignore'] },
};

/** What moves a run without these events. */
export const RUN_MOVES = [
  ['writing', 'written, sent', 'idle'],
  ['writing', 'written, no broker', 'held'],
  ['held, writing', 'written', 'held'],
  ['held', 'broker is there', 'idle'],
  ['held, writing', 'broker is there', 'writing'],
  [['idle', 'writing', 'held', 'held, writing'], 'unscheduled or replaced', 'gone'],
] as const;
