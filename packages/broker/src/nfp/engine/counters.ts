/** What the NFP broker counts. Every drop of docs/protocols/nfp.md section "Bad input" has its reason here. */
import type { NfpAnswer, NfpCall } from '@proj/frames/nfp';
import type { NfpDropReason } from './events.js';

/** Running totals since construction. */
export interface NfpBrokerCounters {
  /** Well-formed calls of clients, by command. */
  readonly calls: Record<NfpCall, number>;
  /** Of those, answered by the broker's own services. */
  mmi: number;
  /** Calls sent to workers, one for each of a call's targets. */
  relays: number;
  /** Of those, POSTs sent again because their worker was lost, to another one or to the same. */
  redispatches: number;
  /** POSTs that had to wait for a service or a worker. */
  queued: number;
  /** Answers of workers passed on to clients, by command. */
  readonly answers: Record<NfpAnswer, number>;
  /** Rule 24: what workers said unasked, and not told to clients that take one answer to each call. */
  withheld: number;
  /** EVENTs of the broker's own about lost workers and what became of their jobs. */
  ownEvents: number;
  /** EVENTs handed to the PUB socket, whoever listens. */
  eventsPublished: number;
  workersReady: number;
  workersLost: number;
  /** READYs for the service the worker is registered for already. */
  repeatedReadies: number;
  keepalivesSent: number;
  disconnectsSent: number;
  /** DISCONNECTs withheld by rule 8. */
  disconnectsWithheld: number;
  /** Notes withheld because the same had been said within the minute. */
  notesWithheld: number;
  /** Everything dropped or refused, by reason. */
  readonly dropped: Record<NfpDropReason, number>;
}

const NONE_DROPPED: Readonly<Record<NfpDropReason, 0>> = {
  header: 0,
  command: 0,
  direction: 0,
  short: 0,
  shape: 0,
  service: 0,
  target: 0,
  uuid: 0,
  status: 0,
  'too-many-frames': 0,
  'too-large': 0,
  'no-frames': 0,
  'unknown-worker': 0,
  'reserved-service': 0,
  'not-allowed': 0,
  'services-limit': 0,
  'workers-limit': 0,
  'open-body': 0,
  'put-unserved': 0,
  'fss-escape': 0,
  'no-worker': 0,
  duplicate: 0,
  'queue-full': 0,
  expired: 0,
  'worker-lost': 0,
  task: 0,
  management: 0,
  'not-management': 0,
  'files-busy': 0,
  'files-failed': 0,
  drained: 0,
  'no-owner': 0,
  unroutable: 0,
  superseded: 0,
};

/** Counters at zero. */
export function newCounters(): NfpBrokerCounters {
  return {
    calls: { post: 0, get: 0, delete: 0, put: 0, mmi: 0 },
    mmi: 0,
    relays: 0,
    redispatches: 0,
    queued: 0,
    answers: { response: 0, event: 0, stream: 0, mmi: 0 },
    withheld: 0,
    ownEvents: 0,
    eventsPublished: 0,
    workersReady: 0,
    workersLost: 0,
    repeatedReadies: 0,
    keepalivesSent: 0,
    disconnectsSent: 0,
    disconnectsWithheld: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}

/** A copy that does not change any more. */
export function copyCounters(counters: NfpBrokerCounters): NfpBrokerCounters {
  const { calls, answers, dropped } = counters;
  return { ...counters, calls: { ...calls }, answers: { ...answers }, dropped: { ...dropped } };
}
