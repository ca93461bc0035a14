/** EventMQ client: what an event means for a command in each state. Section 9 of docs/protocols/emqp.md. */
import type { Legality } from '@proj/transport/engine';

/**
 * The state of a command: sent and not accepted; accepted, with its result awaited; sent again after its acceptance and not accepted again;
 * without a connection until it is sent again; ended, or unknown.
 */
export type CommandState = 'sent' | 'accepted' | 'repeated' | 'resting' | 'over';

/** What happens to a command. `handed over`: the transport has taken a command that brokers do not accept. `lost`: the connection ended. */
export type CommandEvent =
  | 'acceptance'
  | 'result'
  | 'handed over'
  | 'undeliverable'
  | 'lost'
  | 'lost, may run twice'
  | 'timeout'
  | 'abort';

/** `accept`: the caller learns of it. `settle`: no further repeat. `late`: count it. */
type Verdict = 'accept' | 'settle' | 'repeat' | 'fail' | 'late' | 'ignore';

/** Which event is legal in which state. An acceptance leads to `over` if no result is requested. */
export const LEGALITY: Legality<CommandState, CommandEvent, Verdict> = {
  sent: {
    acceptance: ['accept', 'accepted', 'over'],
    result: ['accept', 'over'],
    'handed over': ['accept', 'over'],
    undeliverable: ['fail', 'over'],
    lost: ['fail', 'over'],
    'lost, may run twice': ['repeat', 'sent', 'resting'],
    timeout: ['fail', 'over'],
    abort: ['accept', 'over'],
  },
  accepted: {
    acceptance: ['late'],
    result: ['accept', 'over'],
    'handed over': ['ignore'],
    undeliverable: ['ignore'],
    lost: ['fail', 'over'],
    'lost, may run twice': ['repeat', 'repeated', 'resting'],
    timeout: ['fail', 'over'],
    abort: ['accept', 'over'],
  },
  repeated: {
    acceptance: ['settle', 'accepted'],
    result: ['accept', 'over'],
    'handed over': ['ignore'],
    // There is still time to send it again.
    undeliverable: ['ignore'],
    lost: ['fail', 'over'],
    'lost, may run twice': ['repeat', 'repeated', 'resting'],
    timeout: ['fail', 'over'],
    abort: ['accept', 'over'],
  },
  resting: {
    acceptance: ['late'],
    result: ['late'],
    'handed over': ['ignore'],
    undeliverable: ['ignore'],
    lost: ['ignore'],
    'lost, may run twice': ['ignore'],
    timeout: ['fail', 'over'],
    abort: ['accept', 'over'],
  },
  over: {
    acceptance: ['late'],
    result: ['late'],
    'handed over': ['ignore'],
    undeliverable: ['ignore'],
    lost: ['ignore'],
    'lost, may run twice': ['ignore'],
    timeout: ['ignore'],
    abort: ['ignore'],
  },
};

/** Transitions that the session makes itself, half a second after a connection or at `timeoutMs`. */
export const MOVES = [
  ['resting', 'sent again', 'sent'],
  ['resting', 'sent again after its acceptance', 'repeated'],
  ['repeated', 'not accepted again, sent again', 'repeated'],
] as const;
