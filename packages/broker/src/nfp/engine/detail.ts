/** NFP broker: the operator's view, per service, worker and client. Costs time linear in what it lists and in waiting jobs. */
import type {
  ClientSnapshot,
  EngineSnapshot,
  RefusedPeers,
  ServiceSnapshot,
  WorkerSnapshot,
} from '@proj/transport/engine';
import { elapsedMs, shown } from '@proj/transport/engine';
import type { NfpBrokerCounters } from './counters.js';
import type { Meter } from './figures.js';
import type { Holder, Owner, Worker } from './records.js';
import { type BrokerState, statsOf } from './state.js';

/** Waiting jobs of one service or client. */
interface Wait {
  count: number;
  oldestMs: number;
}

/**
 * The snapshot at `now`. A job for several workers counts as one request, and runs and ends once at each of them. It runs until its worker has
 * sent the result, or is no longer followed.
 */
export function detailOf(state: BrokerState, counters: NfpBrokerCounters, now: number): EngineSnapshot {
  const { calls, answers, dropped, ...totals } = counters;
  const { workers, clients, jobs, waiting, keptBytes } = statsOf(state, counters);
  const [byMeter, byOwner] = waits(state, now);
  return {
    protocol: 'nfp',
    counters: { ...totals, ...prefixed('calls', calls), ...prefixed('answers', answers) },
    dropped: { ...dropped },
    gauges: { workers, clients, jobs, waiting, keptBytes },
    services: servicesOf(state, byMeter),
    workers: workersOf(state, now),
    clients: clientsOf(state, byOwner),
  };
}

/** Jobs that wait, by the figures of their service and by their client. */
function waits({ jobs }: BrokerState, now: number): [Map<Meter, Wait>, Map<Owner, Wait>] {
  const byMeter = new Map<Meter, Wait>();
  const byOwner = new Map<Owner, Wait>();
  for (const job of jobs.waitingJobs()) {
    const { meter, owner } = job;
    const count = job.waitingAt === undefined ? job.held : 1;
    const oldestMs = elapsedMs(job, now);
    if (meter !== undefined) add(byMeter, meter, count, oldestMs);
    add(byOwner, owner, count, oldestMs);
  }
  return [byMeter, byOwner];
}

function add<Key>(waits: Map<Key, Wait>, key: Key, count: number, oldestMs: number): void {
  const wait = waits.get(key);
  if (wait === undefined) {
    waits.set(key, { count, oldestMs });
    return;
  }
  wait.count += count;
  wait.oldestMs = Math.max(wait.oldestMs, oldestMs);
}

/** Services with workers or jobs; also those whose workers have gone for the moment, with their figures. */
function servicesOf({ figures, services }: BrokerState, waits: ReadonlyMap<Meter, Wait>): ServiceSnapshot[] {
  const all: ServiceSnapshot[] = [];
  for (const [name, meter] of figures.entries()) {
    const { count: waiting = 0, oldestMs: oldestWaitingMs = 0 } = waits.get(meter) ?? {};
    const { running } = meter;
    const workers = services.find(name)?.workers.size ?? 0;
    all.push({ name, ...meter.snapshot(), waiting, oldestWaitingMs, running, workers });
  }
  return all;
}

/** Registered workers. One whose connection has ended is away until it has been silent too long. */
function workersOf({ workers, holders, figures: { refused } }: BrokerState, now: number): WorkerSnapshot[] {
  const present = Array.from(workers.values(), (worker) => {
    const { holder } = worker;
    const times = { stateMs: elapsedMs(holder, now), silentMs: Math.max(0, now - worker.lastSeen) };
    return { ...workerOf(worker, holder, refused), state: holder.running === 0 ? 'idle' : 'busy', ...times } as const;
  });
  const away: WorkerSnapshot[] = [];
  for (const holder of holders.values()) {
    if (holder.away === undefined || holder.away.until <= now) continue;
    const { worker, since } = holder.away;
    const times = { stateMs: Math.max(0, now - since), silentMs: Math.max(0, now - worker.lastSeen) };
    away.push({ ...workerOf(worker, holder, refused), state: 'away', ...times });
  }
  return [...present, ...away];
}

function workerOf(
  { peer, service }: Worker,
  { running, done, resends }: Holder,
  refused: RefusedPeers,
): Omit<WorkerSnapshot, 'state' | 'stateMs' | 'silentMs'> {
  return { ...shown(peer), services: [service.name], running, done, resends, refused: refused.of(peer.key) };
}

function clientsOf(state: BrokerState, waits: ReadonlyMap<Owner, Wait>): ClientSnapshot[] {
  const { figures, jobs, holders } = state;
  const clients = new Map<string, ClientSnapshot>();
  for (const owner of jobs.clients()) {
    const { peer, running } = owner;
    const open = running + (waits.get(owner)?.count ?? 0);
    if (open > 0) clients.set(peer.key, { ...shown(peer), open, refused: figures.refused.of(peer.key) });
  }
  const strangers = figures.refused.clients(({ key }) => {
    const { worker, away } = holders.find(key) ?? {};
    return worker !== undefined || away !== undefined || clients.has(key);
  });
  return [...clients.values(), ...strangers];
}

function prefixed(prefix: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [prefix + name.charAt(0).toUpperCase() + name.slice(1), count]),
  );
}
