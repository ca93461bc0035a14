/** PZQ consumer: what an event means for a message in each state. Rule 24 of docs/protocols/pzq.md. */
import type { Legality } from '@proj/transport/engine';

/**
 * The state of a message: not here; waiting for a reader; handed out to the reader in question; handed out again since then, because its lease
 * had ended; acknowledged, as far back as remembered.
 */
export type DeliveryState = 'unknown' | 'waiting' | 'handed out' | 'handed out again' | 'acknowledged';

/** A delivery by a queue, or a reader's verdict on a message that it got. */
export type DeliveryEvent = 'delivery' | 'ack' | 'nack' | 'leave' | 'extend';

/** `keep`: it waits for a reader. `renew`: restarts its lease. `answer`: tells the queue. `forget`: tells the queue nothing. */
type Verdict = 'keep' | 'renew' | 'answer' | 'forget' | 'ignore';

/** Which event is legal in which state. A late `nack` would take the message from its next reader. */
export const LEGALITY: Legality<DeliveryState, DeliveryEvent, Verdict> = {
  unknown: {
    delivery: ['keep', 'waiting'],
    ack: ['answer', 'acknowledged'],
    nack: ['answer'],
    leave: ['ignore'],
    extend: ['ignore'],
  },
  waiting: {
    delivery: ['renew'],
    // From an earlier hand-out whose lease ended: nobody has begun with it again.
    ack: ['answer', 'acknowledged'],
    nack: ['ignore'],
    leave: ['ignore'],
    extend: ['ignore'],
  },
  'handed out': {
    delivery: ['renew'],
    ack: ['answer', 'acknowledged'],
    nack: ['answer', 'unknown'],
    leave: ['forget', 'unknown'],
    extend: ['renew'],
  },
  'handed out again': {
    delivery: ['renew'],
    ack: ['answer'],
    nack: ['ignore'],
    leave: ['ignore'],
    extend: ['ignore'],
  },
  acknowledged: {
    delivery: ['answer'],
    ack: ['answer'],
    nack: ['answer'],
    leave: ['ignore'],
    extend: ['ignore'],
  },
};

/** Transitions that the session makes itself. */
export const MOVES = [
  ['waiting', 'a reader waits', 'handed out'],
  ['waiting', 'a reader waits, handed out before', 'handed out again'],
  ['waiting', 'expired, or given back at the close', 'unknown'],
  [['handed out', 'handed out again'], 'lease ended', 'unknown'],
] as const;
