/** What Paranoid Pirate queues and pools count. Every drop of docs/protocols/ppp.md section "Bad input" has its reason here. */
import type { PppDropReason } from './events.js';

/** Running totals since construction. */
export interface PppCounters {
  /** Requests accepted: dispatched or queued. Refused ones are in `dropped`. */
  requests: number;
  /** REQUESTs sent to workers, resends included. */
  dispatches: number;
  /** Of those, second and later attempts. */
  resends: number;
  /** Requests that ended with their worker's reply. */
  replies: number;
  workersReady: number;
  workersLost: number;
  heartbeatsSent: number;
  /** Notes withheld because the same had been said within the minute. */
  notesWithheld: number;
  /** Everything dropped, by reason. */
  readonly dropped: Record<PppDropReason, number>;
}

const NONE_DROPPED: Readonly<Record<PppDropReason, 0>> = {
  'no-frames': 0,
  'control-empty': 0,
  'control-length': 0,
  'control-unknown': 0,
  'control-unexpected': 0,
  'request-malformed': 0,
  'reply-malformed': 0,
  'request-no-content': 0,
  'too-large': 0,
  unregistered: 0,
  'reply-unexpected': 0,
  'reply-address': 0,
  'workers-limit': 0,
  'not-allowed': 0,
  draining: 0,
  'queue-full': 0,
  expired: 0,
  'attempts-exhausted': 0,
  'client-gone': 0,
  aborted: 0,
  drained: 0,
  'reply-undeliverable': 0,
};

/** Counters at zero. */
export function newCounters(): PppCounters {
  return {
    requests: 0,
    dispatches: 0,
    resends: 0,
    replies: 0,
    workersReady: 0,
    workersLost: 0,
    heartbeatsSent: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}

/** A copy that changes no more. */
export function copyCounters(counters: PppCounters): PppCounters {
  return { ...counters, dropped: { ...counters.dropped } };
}
