/** What can be seen of a Majordomo broker from outside: sizes now, totals so far. */
import type { MdpVersion } from '@proj/frames/mdp';
import type { BrokerState } from './state.js';
import type { MdpBrokerCounters } from './counters.js';

/** One service at this moment. */
export interface MdpServiceStats {
  readonly name: string;
  /** `both` when `bridge` joins the versions. */
  readonly version: MdpVersion | 'both';
  /** Registered workers, busy ones included; `concurrency` of a service inside the broker counts as so many. */
  readonly workers: number;
  readonly busy: number;
  /** Requests in its queue. */
  readonly waiting: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface MdpBrokerStats {
  readonly counters: Readonly<MdpBrokerCounters>;
  readonly services: readonly MdpServiceStats[];
  readonly workers: number;
  /** Clients with open requests. */
  readonly clients: number;
  /** Requests accepted and neither answered nor given up, waiting or running. */
  readonly openRequests: number;
  /** What they occupy, by the measure of `requestQueueMaxBytes`. */
  readonly openBytes: number;
}

/** Takes the snapshot. */
export function statsOf(books: BrokerState, counters: MdpBrokerCounters, openRequests: number): MdpBrokerStats {
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    services: Array.from(books.services.values(), (service) => ({
      name: service.name,
      version: service.version,
      workers: service.workers,
      busy: service.busy,
      waiting: service.queue.size,
    })),
    workers: books.workers.size,
    clients: books.clients.size,
    openRequests,
    openBytes: books.bytes.used,
  };
}
