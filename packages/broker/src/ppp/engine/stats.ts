/** What can be seen of a Paranoid Pirate queue or pool from outside: sizes now, totals so far. */
import type { ClientTable } from '../../shared/clients.js';
import type { Backend } from './backend.js';
import type { ClientEntry, ClientRequest } from './clients.js';
import { copyCounters } from './counters.js';
import type { PppCounters } from './counters.js';
import type { Request } from './requests.js';

/** A snapshot of a pool. Plain data; nothing in it changes afterwards. */
export interface PppPoolStats {
  readonly counters: Readonly<PppCounters>;
  /** Registered workers, busy ones included. */
  readonly workers: number;
  readonly busy: number;
  /** Requests in the queue. */
  readonly waiting: number;
  /** Requests accepted and neither answered nor given up, waiting or running. */
  readonly openRequests: number;
  /** What they occupy, by the measure of `requestQueueMaxBytes`. */
  readonly openBytes: number;
}

/** A snapshot of a queue. Plain data; nothing in it changes afterwards. */
export interface PppQueueStats extends PppPoolStats {
  /** Clients with open requests. */
  readonly clients: number;
}

/** Takes the snapshot of a pool. */
export function poolStats<Asked extends Request>(backend: Backend<Asked>, counters: PppCounters): PppPoolStats {
  const { workers, idle, queue, bytes } = backend.books;
  return {
    counters: copyCounters(counters),
    workers: workers.size,
    busy: workers.size - idle.size,
    waiting: queue.size,
    openRequests: backend.jobs.open,
    openBytes: bytes.used,
  };
}

/** Takes the snapshot of a queue. */
export function queueStats(
  backend: Backend<ClientRequest>,
  clients: ClientTable<ClientEntry>,
  counters: PppCounters,
): PppQueueStats {
  return { ...poolStats(backend, counters), clients: clients.size };
}
