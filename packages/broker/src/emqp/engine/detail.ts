/** EventMQ broker: the operator's view, per queue, worker and client. Costs time linear in what it lists and in running jobs. */
import type {
  ClientSnapshot,
  EngineSnapshot,
  RefusedPeers,
  ServiceSnapshot,
  Timed,
  WorkerSnapshot,
} from '@proj/transport/engine';
import { elapsedMs, shown } from '@proj/transport/engine';
import type { Output } from './output.js';
import type { Job } from './jobs/job.js';
import type { Leaver, Scheduler, Worker } from './peers/peers.js';
import { type BrokerState, statsOf } from './state.js';

/**
 * The snapshot at `now`. A job that moves to another queue ends as `moved` in the first and is a request of the other. Workers that have left,
 * but may still finish jobs, are away.
 */
export function detailOf(state: BrokerState, { counters, refused }: Output, open: number, now: number): EngineSnapshot {
  const { dropped, ...totals } = counters;
  const { workers, schedulers, leaving, slots, openRequests, openBytes, awaitedResults } = statsOf(
    state,
    counters,
    open,
  );
  const clients = clientsOf(state, refused);
  const strangers = refused.clients((peer) => state.peers.knows(peer) || clients.has(peer.key));
  return {
    protocol: 'emqp',
    counters: totals,
    dropped: { ...dropped },
    gauges: { workers, schedulers, leaving, slots, openRequests, openBytes, awaitedResults },
    services: servicesOf(state, now),
    workers: workersOf(state, refused, now),
    clients: [...clients.values(), ...strangers],
  };
}

/** Existing queues, and the figures of recently forgotten ones. */
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

function workersOf({ peers }: BrokerState, refused: RefusedPeers, now: number): WorkerSnapshot[] {
  const members = Array.from(peers.values(), (member) => {
    const row =
      member.role === 'scheduler' ? schedulerOf(member, now) : workerOf(member, member.open.size, member.open, now);
    return { ...row, refused: refused.of(member.peer.key) };
  });
  const leavers = Array.from(peers.leavers(), (leaver) => ({
    ...workerOf(leaver, leaver.running, leaver, now),
    state: 'away' as const,
    refused: refused.of(leaver.peer.key),
  }));
  return [...members, ...leavers];
}

type Row = Omit<WorkerSnapshot, 'refused'>;

function workerOf(
  { peer, names, lastSeen, processed, resends }: Worker | Leaver,
  running: number,
  since: Timed,
  now: number,
): Row {
  return {
    ...shown(peer),
    services: [...names].sort(),
    state: running === 0 ? 'idle' : 'busy',
    stateMs: elapsedMs(since, now),
    silentMs: Math.max(0, now - lastSeen),
    running,
    done: processed,
    resends,
  };
}

/** A scheduler has no jobs of ours, only schedules. */
function schedulerOf({ peer, names, lastSeen, since }: Scheduler, now: number): Row {
  const times = { stateMs: Math.max(0, now - since), silentMs: Math.max(0, now - lastSeen) };
  return { ...shown(peer), services: names, state: 'idle', ...times, running: 0, done: 0, resends: 0 };
}

/** Clients with open requests, by routing id. */
function clientsOf({ queues, peers }: BrokerState, refused: RefusedPeers): Map<string, ClientSnapshot> {
  const clients = new Map<string, ClientSnapshot>();
  const add = ({ client: { peer } }: Job, count: number) => {
    const open = (clients.get(peer.key)?.open ?? 0) + count;
    clients.set(peer.key, { ...shown(peer), open, refused: refused.of(peer.key) });
  };
  for (const { waiting } of queues.values())
    for (const { first, size } of waiting.lines()) if (first !== undefined) add(first, size);
  for (const open of peers.open()) for (const job of open.values()) add(job, 1);
  return clients;
}
