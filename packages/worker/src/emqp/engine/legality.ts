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

/** Whatever the broker says on an open connection is a sign of life. */
export const LEGALITY: Legality<State, EmqpToWorker['kind'], Verdict> = {
  closed: {
    ack: ['ignore'],
    request: ['ignore'],
    heartbeat: ['ignore'],
    disconnect: ['ignore'],
    bye: ['ignore'],
    malformed: ['ignore'],
  },
  informing: {
    ack: ['accept', 'registered'],
    request: ['accept'],
    heartbeat: ['heard'],
    disconnect: ['accept', 'leaving', 'closed'],
    bye: ['accept', 'closed'],
    malformed: ['drop'],
  },
  registered: {
    ack: ['heard'],
    request: ['accept'],
    heartbeat: ['heard'],
    disconnect: ['accept', 'said-bye', 'closed'],
    bye: ['accept', 'closed'],
    malformed: ['drop'],
  },
  leaving: {
    ack: ['accept', 'said-bye'],
    request: ['drop'],
    heartbeat: ['heard'],
    disconnect: ['heard'],
    bye: ['accept', 'closed'],
    malformed: ['drop'],
  },
  'said-bye': {
    ack: ['heard'],
    request: ['drop'],
    heartbeat: ['heard'],
    disconnect: ['heard'],
    bye: ['heard'],
    malformed: ['drop'],
  },
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
