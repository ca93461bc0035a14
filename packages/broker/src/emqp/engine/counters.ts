/** EventMQ broker: its counters. Every drop of docs/protocols/emqp.md, section "Bad input", has its reason here. */
import type { EmqpMalformedReason } from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';

/** Why a message was dropped without further processing. */
export type EmqpMessageDrop = keyof typeof MESSAGE_DROPS;

const MESSAGE_DROPS = {
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
  'headers-too-long': 0,
  'no-interval': 0,
  'interval-too-long': 0,
  'cron-too-long': 0,
  'topic-empty': 0,
  'topic-too-long': 0,
  'text-invalid': 0,
  'too-many-frames': 0,
  'too-large': 0,
  'no-frames': 0,
  /** READY, HEARTBEAT or REPLY from a peer that is not registered. */
  'unknown-peer': 0,
  /** READY or REPLY from a scheduler. */
  unexpected: 0,
  /** REPLY to a job that this worker does not have, or no longer has. */
  'reply-unknown': 0,
  /** REPLY that does not say which of several jobs it answers. */
  'reply-ambiguous': 0,
  /** READY beyond 100,000 slots of one worker. */
  'slots-capped': 0,
  /** INFORM over a limit. */
  'queues-limit': 0,
  'peers-limit': 0,
  'registrations-limit': 0,
  /** INFORM while the broker is stopping. */
  stopping: 0,
  /** DISCONNECT from a peer that may not stop the broker. */
  'disconnect-refused': 0,
  /** The access rules forbid it. Also a refusal. */
  'not-allowed': 0,
  /** SCHEDULE or UNSCHEDULE whose body names no job. */
  'job-invalid': 0,
  /** SCHEDULE or UNSCHEDULE while there is no scheduler. */
  'no-scheduler': 0,
  /** PUBLISH to a broker without a pub-sub device. */
  'publish-unserved': 0,
} satisfies Record<EmqpMalformedReason | RejectReason, 0> & Record<string, 0>;

/** Why a request was refused. */
export type EmqpRefusal = keyof typeof REFUSALS;

const REFUSALS = {
  draining: 0,
  'not-allowed': 0,
  'queue-full': 0,
  /** The process is short of memory. */
  memory: 0,
  /** The job is guaranteed, and the store could not take it. */
  'store-failed': 0,
};

/** Why an accepted request will not be done, or not certainly. */
export type EmqpRequestLoss = keyof typeof REQUEST_LOSSES;

const REQUEST_LOSSES = {
  /** Its worker or process died; it was not guaranteed, and `retry-count` is used up. */
  'jobs-lost': 0,
  /** It was lost with `guaranteeAttempts` workers. */
  'guarantee-exhausted': 0,
  /** It made room for another client because its own had far more waiting. */
  displaced: 0,
  /** An operator purged its queue. */
  purged: 0,
  /** The broker closed first. */
  drained: 0,
};

/** Why a reply did not reach its client. */
export type EmqpReplyLoss = keyof typeof REPLY_LOSSES;

const REPLY_LOSSES = {
  /** The client has gone, or reads too slowly. */
  'reply-undeliverable': 0,
  /** The result took longer than `resultRouteTtlMs`. */
  'result-expired': 0,
  /** More than `resultRouteMax` results were awaited. */
  'result-evicted': 0,
};

/** Why something was dropped: the labels of the drop counters. */
export type EmqpDropReason = EmqpMessageDrop | EmqpRefusal | EmqpRequestLoss | EmqpReplyLoss;

/** Running totals since construction. */
export type EmqpBrokerCounters = ReturnType<typeof newCounters>;

/** Counters at zero. */
export function newCounters() {
  return {
    /** Requests accepted; refused ones are in `dropped`. */
    requests: 0,
    /** REQUESTs for guaranteed jobs that were open already (rule 36). */
    repeats: 0,
    /** Guaranteed jobs taken from the store at the start. */
    restored: 0,
    /** Guaranteed jobs left in the store when the broker stopped. */
    leftInStore: 0,
    /** REQUESTs sent to workers, including repeated ones. */
    dispatches: 0,
    /** Requests that went back into a queue, or to the next worker. */
    resends: 0,
    /** Jobs that ended with REPLY, or with READY if no REPLY was due. */
    processed: 0,
    /** Jobs that ended without either, and were probably done (rules 18 and 19). */
    unconfirmed: 0,
    /** Results forwarded to clients. */
    results: 0,
    /** Invalid header items, which were ignored. */
    headersIgnored: 0,
    /** Requests moved to queue `default` because nobody served their queue. */
    moved: 0,
    /** SCHEDULEs and UNSCHEDULEs forwarded. */
    schedulings: 0,
    /** PUBLISHes handed to the pub-sub device. */
    handedOver: 0,
    peersJoined: 0,
    peersLeft: 0,
    heartbeatsSent: 0,
    /** Farewells sent, counted once per peer. */
    byesSent: 0,
    /** Notes withheld because the same note was sent within the minute. */
    notesWithheld: 0,
    /** Everything dropped, by reason. */
    dropped: { ...MESSAGE_DROPS, ...REFUSALS, ...REQUEST_LOSSES, ...REPLY_LOSSES },
  };
}
