/** PZQ producer: what an event means for a message in each state. Rule 23 of docs/protocols/pzq.md. */
import type { Legality } from '@proj/transport/engine';

/** The state of a message: waiting for the window; sent and not acknowledged; ended, or unknown. */
export type MessageState = 'waiting' | 'sent' | 'over';

/**
 * What happens to a message. `refused` is the queue's no, `unreachable` means that no endpoint can be opened, `timeout` is the end of
 * `timeoutMs`.
 */
export type MessageEvent = 'stored' | 'refused' | 'abort' | 'timeout' | 'unreachable' | 'close';

/** `accept`: it has succeeded, or its caller has given up. `late`: count it. */
type Verdict = 'accept' | 'fail' | 'late' | 'ignore';

/** Without an outcome, and not answered. */
const OPEN = {
  stored: ['late'],
  refused: ['late'],
  abort: ['accept', 'over'],
  timeout: ['fail', 'over'],
  unreachable: ['fail', 'over'],
  close: ['fail', 'over'],
} as const;

/** Which event is legal in which state. */
export const LEGALITY: Legality<MessageState, MessageEvent, Verdict> = {
  waiting: OPEN,
  sent: { ...OPEN, stored: ['accept', 'over'], refused: ['fail', 'over'] },
  over: {
    stored: ['late'],
    refused: ['late'],
    abort: ['ignore'],
    timeout: ['ignore'],
    unreachable: ['ignore'],
    close: ['ignore'],
  },
};

/** Transitions that the session makes itself. */
export const MOVES = [
  ['waiting', 'the window has room', 'sent'],
  ['sent', 'silence or a lost connection, sent again', 'sent'],
] as const;
