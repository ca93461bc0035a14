/** EventMQ broker: its statistics: sizes now, totals so far. */
import type { BrokerState } from './state.js';
import type { EmqpBrokerCounters } from './counters.js';

/** One queue now. */
export interface EmqpQueueStats {
  readonly name: string;
  /** Workers that serve it. */
  readonly workers: number;
  readonly waiting: number;
  /** Jobs at workers. */
  readonly inFlight: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface EmqpBrokerStats {
  readonly counters: Readonly<EmqpBrokerCounters>;
  readonly queues: readonly EmqpQueueStats[];
  readonly workers: number;
  readonly schedulers: number;
  /** Workers that have left, with jobs they may still finish. */
  readonly leaving: number;
  /** Free slots of all workers. */
  readonly slots: number;
  /** Accepted requests, waiting or running. */
  readonly openRequests: number;
  /** Bytes kept for them, as `queueMaxBytes` counts. */
  readonly openBytes: number;
  /** Jobs whose results are awaited. */
  readonly awaitedResults: number;
}

/** Takes the snapshot. */
export function statsOf(state: BrokerState, counters: EmqpBrokerCounters, openRequests: number): EmqpBrokerStats {
  let slots = 0;
  for (const worker of state.peers.workers()) slots += worker.slots;
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    queues: Array.from(state.queues.values(), ({ name, subscriptions, waiting, inFlight }) => ({
      name,
      workers: subscriptions.size,
      waiting: waiting.size,
      inFlight,
    })),
    workers: state.peers.size - state.assignments.size,
    schedulers: state.assignments.size,
    leaving: state.peers.leaving,
    slots,
    openRequests,
    openBytes: state.bytes.used,
    awaitedResults: state.routes.size,
  };
}
