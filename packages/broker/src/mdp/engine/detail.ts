/** Majordomo broker: what an operator sees of it, per service, worker and client. Costs time linear in what it lists, and nothing in between. */
import type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import { elapsedMs, nameOf } from '../../shared/figures.js';
import type { Output } from './output.js';
import type { Service, Worker } from './records.js';
import type { BrokerState } from './state.js';

/** The snapshot at `now`. A service that exists in both versions apart is listed twice; the name of that in 0.1 ends in ` (0.1)`. */
export function detailOf(state: BrokerState, { counters, refused }: Output, open: number, now: number): ServerSnapshot {
  const { dropped, ...totals } = counters;
  const { workers, services, bytes } = state;
  const clients = new Map<string, ClientSnapshot>();
  for (const { peer, open: requests } of state.clients.values())
    clients.set(peer.key, { id: nameOf(peer), open: requests, refused: {} });
  for (const [peer, reasons] of refused.entries()) {
    if (workers.find(peer) !== undefined) continue;
    clients.set(peer.key, { id: nameOf(peer), open: clients.get(peer.key)?.open ?? 0, refused: { ...reasons } });
  }
  return {
    protocol: 'mdp',
    counters: totals,
    dropped: { ...dropped },
    gauges: { workers: workers.size, clients: state.clients.size, openRequests: open, openBytes: bytes.used },
    services: Array.from(services.values(), (service) => serviceOf(service, now)),
    workers: Array.from(workers.values(), (worker) => workerOf(worker, now)),
    clients: [...clients.values()],
  };
}

function serviceOf(service: Service, now: number): ServiceSnapshot {
  let oldestWaitingMs = 0;
  for (const { since } of service.queue.heads()) oldestWaitingMs = Math.max(oldestWaitingMs, elapsedMs(since, now));
  return {
    name: service.version === '0.1' ? `${service.name} (0.1)` : service.name,
    ...service.figures.snapshot(),
    waiting: service.queue.size,
    oldestWaitingMs,
    running: service.busy,
    workers: service.workers,
  };
}

function workerOf(worker: Worker, now: number): WorkerSnapshot {
  const { peer, request, service, done } = worker;
  return {
    id: nameOf(peer),
    services: [service.name],
    state: request === undefined ? 'idle' : 'busy',
    stateMs: request === undefined ? Math.max(0, now - worker.idleSince) : elapsedMs(request.since, now),
    silentMs: Math.max(0, now - worker.lastSeen),
    running: request === undefined ? 0 : 1,
    done,
    // Rule 14: a worker that loses its request is forgotten with it.
    resends: 0,
  };
}
