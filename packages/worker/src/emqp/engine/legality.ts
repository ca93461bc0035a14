/** EventMQ job manager: which message of the broker is legal when. Section 10 of docs/protocols/emqp.md. */
import type { EmqpToWorker } from '@proj/frames/emqp';
import type { Legality } from '@proj/transport/engine';

/** What the connection is doing. `informing`: until the ACK. `leaving`: the farewell has to wait for the ACK. `said-bye`: results still go out. */
type State = 'closed' | 'informing' | 'registered' | 'leaving' | 'said-bye';

/** What follows. */
type Verdict =
  /** It is legal: do it. */
  | 'accept'
  /** It is a sign of life and nothing more. */
  | 'heard'
  /** Count it; a request is not run. */
  | 'drop'
  /** It belongs to a connection that is over. */
  | 'ignore';

/** What is the same on every open connection. Whatever the broker says there is a sign of life. */
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

/** What the job manager does by itself. */
export const MOVES = [
  ['closed', 'INFORM sent', 'informing'],
  ['closed', 'INFORM sent for results', 'leaving'],
  ['informing', 'drain', 'leaving'],
  ['registered', 'drain', 'said-bye'],
  [['informing', 'registered', 'leaving'], 'lost', 'closed'],
  ['said-bye', 'lost or done', 'closed'],
] as const;
