/** What the Majordomo broker counts. Every drop of docs/protocols/mdp.md section "Bad input" has its reason here. */
import type { MdpDropReason } from './events.js';

/** Running totals since construction. */
export interface MdpBrokerCounters {
  /** Requests accepted: dispatched or queued. Refused ones are in `dropped`. */
  requests: number;
  /** REQUESTs sent to workers, resends included. */
  dispatches: number;
  /** Requests given to services inside the broker, again included. */
  runs: number;
  /** Of both, second and later attempts. */
  resends: number;
  /** PARTIALs forwarded to clients. */
  partials: number;
  /** Requests that ended with their worker's FINAL, or a handler's reply. */
  replies: number;
  /** MMI requests answered. */
  mmi: number;
  workersReady: number;
  workersLost: number;
  heartbeatsSent: number;
  disconnectsSent: number;
  /** DISCONNECTs withheld by rule 8. */
  disconnectsWithheld: number;
  /** Notes withheld because the same had been said within the minute. */
  notesWithheld: number;
  /** Everything dropped, by reason. */
  readonly dropped: Record<MdpDropReason, number>;
}

const NONE_DROPPED: Readonly<Record<MdpDropReason, 0>> = {
  'no-header': 0,
  'unknown-header': 0,
  'leading-empty': 0,
  'no-leading-empty': 0,
  'no-command': 0,
  'command-length': 0,
  'unknown-command': 0,
  'wrong-direction': 0,
  'no-service': 0,
  'service-invalid': 0,
  envelope: 0,
  'no-body': 0,
  'extra-frames': 0,
  'too-many-frames': 0,
  'too-large': 0,
  'no-frames': 0,
  'wrong-version': 0,
  unexpected: 0,
  'unknown-worker': 0,
  'reserved-service': 0,
  'not-allowed': 0,
  'services-limit': 0,
  'workers-limit': 0,
  draining: 0,
  'client-limit': 0,
  'queue-full': 0,
  memory: 0,
  'expired-unserved': 0,
  'expired-busy': 0,
  'client-gone': 0,
  'attempts-exhausted': 0,
  'lost-after-partial': 0,
  drained: 0,
  'reply-undeliverable': 0,
  'reply-too-large': 0,
};

/** Counters at zero. */
export function newCounters(): MdpBrokerCounters {
  return {
    requests: 0,
    dispatches: 0,
    runs: 0,
    resends: 0,
    partials: 0,
    replies: 0,
    mmi: 0,
    workersReady: 0,
    workersLost: 0,
    heartbeatsSent: 0,
    disconnectsSent: 0,
    disconnectsWithheld: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}
