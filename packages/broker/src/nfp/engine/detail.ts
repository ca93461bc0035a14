/** NFP broker: what an operator sees of it, per service, worker and client. Costs time linear in what it lists and in waiting jobs. */
import type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import { elapsedMs, nameOf } from '../../shared/figures.js';
import type { NfpBrokerCounters } from './counters.js';
import type { Meter } from './figures.js';
import type { Holder, Owner, Worker } from './records.js';
import type { BrokerState } from './state.js';
import { statsOf } from './stats.js';

/** Waiting jobs of one service or client. */
interface Wait {
  count: number;
  oldestMs: number;
}

/**
 * The snapshot at `now`. A job for several workers counts as one request, and runs and ends once at each of them. It runs until its worker has
 * told the result, or is no longer followed.
 */
export function detailOf(state: BrokerState, counters: NfpBrokerCounters, now: number): ServerSnapshot {
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
  for (const { meter, owner, waitingAt, held, since } of jobs.waitingJobs()) {
    const count = waitingAt === undefined ? held : 1;
    const oldestMs = elapsedMs(since, now);
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

/** Services with workers or jobs; also those whose workers are gone for the moment, with what they did. */
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
function workersOf({ workers, holders }: BrokerState, now: number): WorkerSnapshot[] {
  const present = Array.from(workers.values(), (worker) => {
    const { running, stateSince } = worker.holder;
    return workerOf(worker, worker.holder, running === 0 ? 'idle' : 'busy', stateSince, now);
  });
  const away: WorkerSnapshot[] = [];
  for (const holder of holders.values())
    if (holder.away !== undefined && holder.away.until > now)
      away.push(workerOf(holder.away.worker, holder, 'away', holder.away.since, now));
  return [...present, ...away];
}

function workerOf(
  { peer, service, lastSeen }: Worker,
  { running, done, resends }: Holder,
  state: WorkerSnapshot['state'],
  since: number,
  now: number,
): WorkerSnapshot {
  return {
    id: nameOf(peer),
    services: [service.name],
    state,
    stateMs: Math.max(0, now - since),
    silentMs: Math.max(0, now - lastSeen),
    running,
    done,
    resends,
  };
}

function clientsOf({ figures, jobs, workers }: BrokerState, waits: ReadonlyMap<Owner, Wait>): ClientSnapshot[] {
  const clients = new Map<string, ClientSnapshot>();
  for (const owner of jobs.clients()) {
    const open = owner.running + (waits.get(owner)?.count ?? 0);
    if (open > 0) clients.set(owner.peer.key, { id: nameOf(owner.peer), open, refused: {} });
  }
  for (const [peer, reasons] of figures.refused.entries()) {
    if (workers.find(peer.key) !== undefined) continue;
    clients.set(peer.key, { id: nameOf(peer), open: clients.get(peer.key)?.open ?? 0, refused: { ...reasons } });
  }
  return [...clients.values()];
}

function prefixed(prefix: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [prefix + name.charAt(0).toUpperCase() + name.slice(1), count]),
  );
}
