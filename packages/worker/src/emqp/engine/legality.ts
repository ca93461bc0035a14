/** EventMQ job manager: which broker message is legal in which state. Section 10 of docs/protocols/emqp.md. */
import type { EmqpToWorker } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport/engine';

/** The state of the connection. `informing`: until the ACK. `leaving`: the farewell has to wait for the ACK. `said-bye`: results are still sent. */
type State = 'closed' | 'informing' | 'registered' | 'leaving' | 'said-bye';

/** The verdicts. */
type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** Only a sign of life. */
  | 'heard'
  /** Count it; a request is not run. */
  | 'drop'
  /** It belongs to a connection that has ended. */
  | 'ignore';

/** The same on every open connection. Every message of the broker is a sign of life. */
const OPEN = { heartbeat: ['heard'], malformed: ['drop'] } as const;
const JOINED = { ...OPEN, request: ['accept'], bye: ['accept', 'closed'] } as const;
const GOING = { ...OPEN, request: ['drop'], disconnect: ['heard'] } as const;

export const LEGALITY: Legality<State, EmqpToWorker['kind'], Verdict> = {
  closed: {
    ack: ['ignore'],
    request: ['ignore'],
    heartbeat: ['ignore'],
    disconnect: ['ignore'],
    bye: ['ignore'],
    malformed: ['ignore'],
  },
  informing: { ...JOINED, ack: ['accept', 'registered'], disconnect: ['accept', 'leaving', 'closed'] },
  registered: { ...JOINED, ack: ['heard'], disconnect: ['accept', 'said-bye', 'closed'] },
  leaving: { ...GOING, ack: ['accept', 'said-bye'], bye: ['accept', 'closed'] },
  'said-bye': { ...GOING, ack: ['heard'], bye: ['heard'] },
};

/** Transitions that the job manager makes itself. */
export const MOVES = [
  ['closed', 'INFORM sent', 'informing'],
  ['closed', 'INFORM sent for results', 'leaving'],
  ['informing', 'drain', 'leaving'],
  ['registered', 'drain', 'said-bye'],
  [['informing', 'registered', 'leaving'], 'lost', 'closed'],
  ['said-bye', 'lost or done', 'closed'],
] as const;
