/** EventMQ broker: what an operator sees of it, per queue, worker and client. Costs time linear in what it lists and in running jobs. */
import type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import { nameOf } from '../../shared/figures.js';
import type { Output } from './output.js';
import type { Job, WorkerJobs } from './job.js';
import type { Leaver, Scheduler, Worker } from './peers.js';
import type { BrokerState } from './state.js';
import { statsOf } from './stats.js';

/**
 * The snapshot at `now`. A job that moves to another queue ends as `moved` in the first and is a request of the other. Workers that have left,
 * but may still finish jobs, are away.
 */
export function detailOf(state: BrokerState, { counters, refused }: Output, open: number, now: number): ServerSnapshot {
  const { dropped, ...totals } = counters;
  const { workers, schedulers, leaving, slots, openRequests, openBytes, awaitedResults } = statsOf(
    state,
    counters,
    open,
  );
  const clients = clientsOf(state);
  for (const [peer, reasons] of refused.entries()) {
    if (state.peers.knows(peer)) continue;
    clients.set(peer.key, { id: nameOf(peer), open: clients.get(peer.key)?.open ?? 0, refused: { ...reasons } });
  }
  return {
    protocol: 'emqp',
    counters: totals,
    dropped: { ...dropped },
    gauges: { workers, schedulers, leaving, slots, openRequests, openBytes, awaitedResults },
    services: servicesOf(state, now),
    workers: workersOf(state, now),
    clients: [...clients.values()],
  };
}

/** Queues, and what those did that are forgotten for the moment. */
function servicesOf({ queues }: BrokerState, now: number): ServiceSnapshot[] {
  return Array.from(queues.totals(), ([name, { meter }]) => {
    const queue = queues.find(name);
    const oldest = queue?.oldest;
    return {
      name,
      ...meter.snapshot(),
      waiting: queue?.waiting.size ?? 0,
      oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now - oldest.waitingSince),
      running: queue?.inFlight ?? 0,
      workers: queue?.subscriptions.size ?? 0,
      ...(queue?.isPaused === true ? { isPaused: true } : {}),
    };
  });
}

function workersOf({ peers }: BrokerState, now: number): WorkerSnapshot[] {
  const registered = Array.from(peers.values(), (member) =>
    member.role === 'scheduler' ? schedulerOf(member, now) : workerOf(member, now),
  );
  return [...registered, ...Array.from(peers.leavers(), (leaver) => leaverOf(leaver, now))];
}

function workerOf({ peer, names, open, lastSeen, processed, resends }: Worker, now: number): WorkerSnapshot {
  return {
    id: nameOf(peer),
    services: [...names].sort(),
    state: open.size === 0 ? 'idle' : 'busy',
    ...timesOf(open, lastSeen, now),
    running: open.size,
    done: processed,
    resends,
  };
}

function leaverOf({ peer, names, open, lastSeen, processed, resends }: Leaver, now: number): WorkerSnapshot {
  return {
    id: nameOf(peer),
    services: names,
    state: 'away',
    ...timesOf(open, lastSeen, now),
    running: open.size,
    done: processed,
    resends,
  };
}

/** A scheduler has no jobs of ours: it keeps schedules. */
function schedulerOf({ peer, names, lastSeen, since }: Scheduler, now: number): WorkerSnapshot {
  const times = { stateMs: Math.max(0, now - since), silentMs: Math.max(0, now - lastSeen) };
  return { id: nameOf(peer), services: names, state: 'idle', ...times, running: 0, done: 0, resends: 0 };
}

function timesOf({ since }: WorkerJobs, lastSeen: number, now: number): { stateMs: number; silentMs: number } {
  return { stateMs: Math.max(0, now - since), silentMs: Math.max(0, now - lastSeen) };
}

/** Clients with open requests, by routing id. */
function clientsOf({ queues, peers }: BrokerState): Map<string, ClientSnapshot> {
  const clients = new Map<string, ClientSnapshot>();
  const add = ({ client: { peer } }: Job, count: number) => {
    clients.set(peer.key, { id: nameOf(peer), open: (clients.get(peer.key)?.open ?? 0) + count, refused: {} });
  };
  for (const { waiting } of queues.values())
    for (const { first, size } of waiting.lines()) if (first !== undefined) add(first, size);
  for (const { open } of [...peers.workers(), ...peers.leavers()]) for (const job of open.values()) add(job, 1);
  return clients;
}
