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

/** Accepted, so only its result is awaited. */
const ACCEPTED = {
  acceptance: ['late'],
  result: ['accept', 'over'],
  'handed over': ['ignore'],
  undeliverable: ['ignore'],
  lost: ['fail', 'over'],
  'lost, may run twice': ['repeat', 'repeated', 'resting'],
  timeout: ['fail', 'over'],
  abort: ['accept', 'over'],
} as const;

/** Ended, or unknown. */
const OVER = {
  acceptance: ['late'],
  result: ['late'],
  'handed over': ['ignore'],
  undeliverable: ['ignore'],
  lost: ['ignore'],
  'lost, may run twice': ['ignore'],
  timeout: ['ignore'],
  abort: ['ignore'],
} as const;

/** Which event is legal in which state. An acceptance leads to `over` if no result is requested. */
export const LEGALITY: Legality<CommandState, CommandEvent, Verdict> = {
  sent: {
    ...ACCEPTED,
    acceptance: ['accept', 'accepted', 'over'],
    'handed over': ['accept', 'over'],
    undeliverable: ['fail', 'over'],
    'lost, may run twice': ['repeat', 'sent', 'resting'],
  },
  accepted: ACCEPTED,
  // If it cannot be delivered, there is still time to send it again.
  repeated: { ...ACCEPTED, acceptance: ['settle', 'accepted'] },
  resting: { ...OVER, timeout: ['fail', 'over'], abort: ['accept', 'over'] },
  over: OVER,
};

/** Transitions that the session makes itself, half a second after a connection or at `timeoutMs`. */
export const MOVES = [
  ['resting', 'sent again', 'sent'],
  ['resting', 'sent again after its acceptance', 'repeated'],
  ['repeated', 'not accepted again, sent again', 'repeated'],
] as const;
