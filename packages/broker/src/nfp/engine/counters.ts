/** NFP broker: its counters. Every drop of docs/protocols/nfp.md, section "Bad input", has its reason here. */
import type { NfpAnswer, NfpCall, NfpMalformedReason } from '@proj/frames/nfp';
import type { RejectReason } from '@proj/transport';

/** Why a message was dropped. */
export type NfpMessageDrop = keyof typeof MESSAGE_DROPS;

const MESSAGE_DROPS = {
  header: 0,
  command: 0,
  direction: 0,
  short: 0,
  shape: 0,
  service: 0,
  uuid: 0,
  status: 0,
  'too-many-frames': 0,
  'too-large': 0,
  'no-frames': 0,
  /** Also a refusal: a JSON array that is invalid or contains anything but names. */
  target: 0,
  /** A worker command from a peer that is not registered. */
  'unknown-worker': 0,
  /** READY for a service of the broker. */
  'reserved-service': 0,
  /** A worker command for a service that its sender may not serve, or a PUT to one that the client may not request. Also a refusal. */
  'not-allowed': 0,
  /** READY over a limit. */
  'services-limit': 0,
  'workers-limit': 0,
  'registrations-limit': 0,
  /** OPEN whose body is not JSON; it is answered anyway. */
  'open-body': 0,
  /** A request for files outside the folder; it is answered as if they were missing. */
  'fss-escape': 0,
  /** PUT for nobody, which has no answer. */
  'put-unserved': 0,
} satisfies Record<NfpMalformedReason | RejectReason, 0> & Record<string, 0>;

/** Why a call was answered with 400, or with 500 if a retry may help. */
export type NfpRefusal = keyof typeof REFUSALS;

const REFUSALS = {
  target: 0,
  'not-allowed': 0,
  /** The target matches no live worker of the service. */
  'no-worker': 0,
  /** Another job with that uuid is waiting. */
  duplicate: 0,
  /** Too many POSTs wait, or too many bytes. */
  'queue-full': 0,
  /** No worker came for `requestTtlMs`; 408 if others of the target did. */
  expired: 0,
  /** Its worker was lost, and no other could take over; 408 for one of several workers. */
  'worker-lost': 0,
  /** A call to a service of the broker that is not a task. */
  task: 0,
  /** `managementCommands` is off, and the call did not come to the management endpoint. */
  management: 0,
  /** The management endpoint serves only management. */
  'not-management': 0,
  /** Too many file requests are open; 500. */
  'files-busy': 0,
  /** The disk failed, or the answer is too large; 500. */
  'files-failed': 0,
  /** The broker closed first. */
  drained: 0,
};

/** Why a worker's answer did not reach a client. */
export type NfpAnswerLoss = keyof typeof ANSWER_LOSSES;

const ANSWER_LOSSES = {
  /** It names no client, and the broker does not know who asked. */
  'no-owner': 0,
  /** The client has gone, or reads too slowly. */
  unroutable: 0,
  /** It is about a job that another worker has by now. */
  superseded: 0,
};

/** Why something was dropped or refused: the labels of the drop counters. */
export type NfpDropReason = NfpMessageDrop | NfpRefusal | NfpAnswerLoss;

/** Running totals since construction. */
export type NfpBrokerCounters = ReturnType<typeof newCounters>;

/** Counters at zero. */
export function newCounters() {
  return {
    /** Well-formed calls of clients, by command. */
    calls: { post: 0, get: 0, delete: 0, put: 0, mmi: 0 } satisfies Record<NfpCall, number>,
    /** Calls answered by the broker's own services. */
    mmi: 0,
    /** Calls sent to workers, counted once per worker. */
    relays: 0,
    /** POSTs among them that were sent again because their worker was lost, to another worker or the same. */
    redispatches: 0,
    /** POSTs that had to wait for a service or a worker. */
    queued: 0,
    /** Workers' answers forwarded to clients, by command. */
    answers: { response: 0, event: 0, stream: 0, mmi: 0 } satisfies Record<NfpAnswer, number>,
    /** Rule 24: unrequested messages withheld from clients that take one answer to each call. */
    withheld: 0,
    /** The broker's own EVENTs about lost workers and their jobs. */
    ownEvents: 0,
    /** EVENTs handed to the PUB socket. */
    eventsPublished: 0,
    workersReady: 0,
    workersLost: 0,
    /** READYs of workers that are already registered for that service. */
    repeatedReadies: 0,
    keepalivesSent: 0,
    disconnectsSent: 0,
    /** DISCONNECTs withheld by rule 8. */
    disconnectsWithheld: 0,
    /** Notes withheld because the same note was sent within the minute. */
    notesWithheld: 0,
    /** Everything dropped or refused, by reason. */
    dropped: { ...MESSAGE_DROPS, ...REFUSALS, ...ANSWER_LOSSES },
  };
}

/** An immutable copy. */
export function copyCounters(counters: NfpBrokerCounters): NfpBrokerCounters {
  const { calls, answers, dropped } = counters;
  return { ...counters, calls: { ...calls }, answers: { ...answers }, dropped: { ...dropped } };
}
