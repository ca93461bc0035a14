/** What the EventMQ broker counts. Every drop of docs/protocols/emqp.md, section "Bad input", has its reason here. */
import type { EmqpDropReason } from './events.js';

/** Running totals since construction. */
export interface EmqpBrokerCounters {
  /** Requests accepted: dispatched or queued. Refused ones are in `dropped`. */
  requests: number;
  /** REQUESTs for guaranteed jobs that were open already (rule 36). */
  repeats: number;
  /** Guaranteed jobs of an earlier life, taken from the store. */
  restored: number;
  /** Guaranteed jobs left in the store when the broker stopped. */
  leftInStore: number;
  /** REQUESTs sent to workers, repeated ones included. */
  dispatches: number;
  /** Requests that went back into a queue, or to the next worker. */
  resends: number;
  /** Jobs that ended with a REPLY, or with READY where no REPLY was due. */
  processed: number;
  /** Jobs that ended without either, and were probably done (rules 18 and 19). */
  unconfirmed: number;
  /** Results forwarded to clients. */
  results: number;
  /** Items of headers that were ignored for what is wrong with them. */
  headersIgnored: number;
  /** Requests that moved to queue `default` because nobody served theirs. */
  moved: number;
  /** SCHEDULEs and UNSCHEDULEs forwarded. */
  schedulings: number;
  /** PUBLISHes handed to the pub-sub device. */
  handedOver: number;
  peersJoined: number;
  peersLeft: number;
  heartbeatsSent: number;
  /** Peers that were told farewell. */
  byesSent: number;
  /** Notes withheld because the same had been said within the minute. */
  notesWithheld: number;
  /** Everything dropped, by reason. */
  readonly dropped: Record<EmqpDropReason, number>;
}

const NONE_DROPPED: Readonly<Record<EmqpDropReason, 0>> = {
  'too-few-frames': 0,
  'no-empty-frame': 0,
  version: 0,
  'unknown-command': 0,
  'wrong-direction': 0,
  'id-invalid': 0,
  'frame-count': 0,
  'inform-type': 0,
  'queues-invalid': 0,
  'queue-invalid': 0,
  'no-interval': 0,
  'interval-too-long': 0,
  'cron-too-long': 0,
  'topic-empty': 0,
  'topic-too-long': 0,
  'text-invalid': 0,
  'too-many-frames': 0,
  'too-large': 0,
  'no-frames': 0,
  'unknown-peer': 0,
  unexpected: 0,
  'reply-unknown': 0,
  'reply-ambiguous': 0,
  'slots-capped': 0,
  'queues-limit': 0,
  'peers-limit': 0,
  stopping: 0,
  'disconnect-refused': 0,
  'not-allowed': 0,
  'job-invalid': 0,
  'no-scheduler': 0,
  'publish-unserved': 0,
  draining: 0,
  'queue-full': 0,
  memory: 0,
  'store-failed': 0,
  'jobs-lost': 0,
  'guarantee-exhausted': 0,
  drained: 0,
  'reply-undeliverable': 0,
  'result-expired': 0,
  'result-evicted': 0,
};

/** Counters at zero. */
export function newCounters(): EmqpBrokerCounters {
  return {
    requests: 0,
    repeats: 0,
    restored: 0,
    leftInStore: 0,
    dispatches: 0,
    resends: 0,
    processed: 0,
    unconfirmed: 0,
    results: 0,
    headersIgnored: 0,
    moved: 0,
    schedulings: 0,
    handedOver: 0,
    peersJoined: 0,
    peersLeft: 0,
    heartbeatsSent: 0,
    byesSent: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}
