/** What can be seen of an EventMQ broker from outside: sizes now, totals so far. */
import type { BrokerState } from './state.js';
import type { EmqpBrokerCounters } from './counters.js';

/** One queue at this moment. */
export interface EmqpQueueStats {
  readonly name: string;
  /** Registered workers that list it. */
  readonly workers: number;
  readonly waiting: number;
  /** Jobs that are open at workers. */
  readonly inFlight: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface EmqpBrokerStats {
  readonly counters: Readonly<EmqpBrokerCounters>;
  readonly queues: readonly EmqpQueueStats[];
  readonly workers: number;
  readonly schedulers: number;
  /** Workers that have left with jobs they may still finish. */
  readonly leaving: number;
  /** Slots of all workers that wait for a job. */
  readonly slots: number;
  /** Requests accepted and neither done nor lost, waiting or running. */
  readonly openRequests: number;
  /** What is kept of them, by the measure of `queueMaxBytes`. */
  readonly openBytes: number;
  /** Jobs whose results are awaited. */
  readonly awaitedResults: number;
}

/** Takes the snapshot. */
export function statsOf(books: BrokerState, counters: EmqpBrokerCounters, openRequests: number): EmqpBrokerStats {
  let slots = 0;
  for (const worker of books.peers.workers()) slots += worker.slots;
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    queues: Array.from(books.queues.values(), ({ name, seats, waiting, inFlight }) => ({
      name,
      workers: seats.size,
      waiting: waiting.size,
      inFlight,
    })),
    workers: books.peers.size - books.assignments.size,
    schedulers: books.assignments.size,
    leaving: books.peers.leaving,
    slots,
    openRequests,
    openBytes: books.bytes.used,
    awaitedResults: books.routes.size,
  };
}
