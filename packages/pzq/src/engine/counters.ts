/** What the PZQ engine counts. Every row of docs/protocols/pzq.md, section "Bad input and bad times", has its reason here. */
import type { PzqDropReason } from './events.js';

/** Running totals since construction. */
export interface PzqCounters {
  /** Messages stored and acknowledged `1`. */
  stored: number;
  /** Acknowledged `1` without a second copy. */
  deduplicated: number;
  /** Messages answered `0`; also in `dropped` by reason. */
  refused: number;
  /** Deliveries the socket has taken over, second and later ones included. */
  delivered: number;
  /** Of those, second and later ones of a message, as far as this process knows. */
  redelivered: number;
  /** Positive acknowledgements of messages the queue held. */
  acked: number;
  /** Of those, for messages that were not in flight any more. */
  ackedLate: number;
  /** Negative acknowledgements that returned a message. */
  nacked: number;
  /** Leases that ran out. */
  timedOut: number;
  /** Leases that consumers started anew. */
  extended: number;
  /** Messages whose time to live was over. */
  expired: number;
  /** Messages that became dead letters. */
  buried: number;
  /** Dead letters that were returned to the queue. */
  revived: number;
  /** Completed group commits. */
  commits: number;
  commitsFailed: number;
  /** Header frames of producers, which are dropped unless `headers` reads them. */
  headersDropped: number;
  monitorReplies: number;
  /** Notes withheld because the same had been said within the minute. */
  notesWithheld: number;
  /** Everything dropped or refused, by reason. */
  readonly dropped: Record<PzqDropReason, number>;
}

const NONE_DROPPED: Readonly<Record<PzqDropReason, 0>> = {
  'no-frames': 0,
  'produce-one-frame': 0,
  'producer-ack-malformed': 0,
  'delivery-malformed': 0,
  'monitor-unknown': 0,
  'monitor-reply-malformed': 0,
  'not-allowed': 0,
  'too-many-frames': 0,
  'producer-stalled': 0,
  'key-unknown': 0,
  'extension-ignored': 0,
  'no-delimiter': 0,
  'no-body': 0,
  'queue-full-messages': 0,
  'queue-full-bytes': 0,
  'too-large': 0,
  'too-many-parts': 0,
  'invalid-header': 0,
  'store-unavailable': 0,
  draining: 0,
  'ack-undeliverable': 0,
};

/** Counters at zero. */
export function newCounters(): PzqCounters {
  return {
    stored: 0,
    deduplicated: 0,
    refused: 0,
    delivered: 0,
    redelivered: 0,
    acked: 0,
    ackedLate: 0,
    nacked: 0,
    timedOut: 0,
    extended: 0,
    expired: 0,
    buried: 0,
    revived: 0,
    commits: 0,
    commitsFailed: 0,
    headersDropped: 0,
    monitorReplies: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}
