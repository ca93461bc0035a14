/** NFP broker: its statistics: sizes now, totals so far. */
import type { BrokerState } from './state.js';
import { copyCounters, type NfpBrokerCounters } from './counters.js';

/** One service now. */
export interface NfpServiceStats {
  readonly name: string;
  readonly workers: number;
  /** POSTs that wait for it. */
  readonly waiting: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface NfpBrokerStats {
  readonly counters: Readonly<NfpBrokerCounters>;
  readonly services: readonly NfpServiceStats[];
  readonly workers: number;
  /** Clients remembered. */
  readonly clients: number;
  /** Jobs remembered, done or not. */
  readonly jobs: number;
  /** POSTs that wait for a service or a worker. */
  readonly waiting: number;
  /** Kept bodies, as `requestQueueMaxBytes` counts them. */
  readonly keptBytes: number;
}

/** Takes the snapshot. */
export function statsOf(
  { workers, services, clients, jobs }: BrokerState,
  counters: NfpBrokerCounters,
): NfpBrokerStats {
  return {
    counters: copyCounters(counters),
    services: Array.from(services.values(), ({ name, workers: members, queue }) => ({
      name,
      workers: members.size,
      waiting: queue.size,
    })),
    workers: workers.size,
    clients: clients.size,
    jobs: jobs.size,
    waiting: jobs.waiting,
    keptBytes: jobs.bodies.bytes,
  };
}
