/** EventMQ client: what an event means for a command, in each of its states. Section 9 of docs/protocols/emqp.md. */
import type { Legality } from '@proj/transport/engine';

/**
 * Where a command is: sent and not accepted; accepted, with its result awaited; sent once more after its acceptance and not accepted again;
 * without a connection until it goes out again; ended, or never ours.
 */
export type CommandState = 'sent' | 'accepted' | 'repeated' | 'resting' | 'over';

/** What befalls a command. `handed over`: the transport has a command that brokers do not accept. `lost`: the connection ended. */
export type CommandEvent =
  | 'acceptance'
  | 'result'
  | 'handed over'
  | 'undeliverable'
  | 'lost'
  | 'lost, may run twice'
  | 'timeout'
  | 'abort';

/** `accept`: the caller is told. `settle`: no further repeat. `late`: count it. */
type Verdict = 'accept' | 'settle' | 'repeat' | 'fail' | 'late' | 'ignore';

/** Which event is legal in which state. An acceptance leads to `over` where no result is asked for. */
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
    // It has time to go out again.
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

/** What the session does by itself, at the end of the half second between connections or of `timeoutMs`. */
export const MOVES = [
  ['resting', 'sent again', 'sent'],
  ['resting', 'sent again after its acceptance', 'repeated'],
  ['repeated', 'not accepted again, sent again', 'repeated'],
] as const;
