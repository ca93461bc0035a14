/** Majordomo broker: the operator's view, per service, worker and client. Costs time linear in what it lists, and nothing between calls. */
import type {
  ClientSnapshot,
  EngineSnapshot,
  RefusedPeers,
  ServiceSnapshot,
  WorkerSnapshot,
} from '@proj/transport/engine';
import { elapsedMs, shown } from '@proj/transport/engine';
import type { Output } from './output.js';
import type { ClientEntry, Service, Worker } from './records.js';
import type { BrokerState } from './state.js';

/**
 * The snapshot at `now`. A service that exists in both versions separately is listed twice; the 0.1 name ends in ` (0.1)`. Formerly served
 * services are listed last.
 */
export function detailOf(
  state: BrokerState,
  { counters, refused }: Output,
  open: number,
  now: number,
  calls?: ClientSnapshot,
): EngineSnapshot {
  const { dropped, ...totals } = counters;
  const { workers, services, bytes } = state;
  const clients = calls ? [calls] : Array.from(state.clients.values(), (client) => clientOf(client, refused));
  const strangers = refused.clients(
    (peer) => workers.find(peer) !== undefined || state.clients.find(peer.key) !== undefined,
  );
  return {
    protocol: 'mdp',
    counters: totals,
    dropped: { ...dropped },
    gauges: { workers: workers.size, clients: state.clients.size, openRequests: open, openBytes: bytes.used },
    services: [
      ...Array.from(services.values(), (service) => serviceOf(service, now)),
      ...Array.from(services.absent, ([name, figures]) => ({ name, ...figures.snapshot(), ...NOTHING_NOW })),
    ],
    workers: Array.from(workers.values(), (worker) => workerOf(worker, refused, now)),
    clients: [...clients, ...strangers],
  };
}

const NOTHING_NOW = { waiting: 0, oldestWaitingMs: 0, running: 0, workers: 0 };

function serviceOf(service: Service, now: number): ServiceSnapshot {
  let oldestWaitingMs = 0;
  // Most services have nothing waiting, and there may be ten thousand of them.
  if (service.queue.size > 0)
    for (const request of service.queue.heads()) oldestWaitingMs = Math.max(oldestWaitingMs, elapsedMs(request, now));
  return {
    name: service.label,
    ...service.figures.snapshot(),
    waiting: service.queue.size,
    oldestWaitingMs,
    running: service.busy,
    workers: service.workers,
  };
}

function clientOf({ peer, open }: ClientEntry, refused: RefusedPeers): ClientSnapshot {
  return { ...shown(peer), open, refused: refused.of(peer.key) };
}

function workerOf(worker: Worker, refused: RefusedPeers, now: number): WorkerSnapshot {
  const { peer, request, service, done } = worker;
  // No spread: it costs as much as all the rest, and a snapshot has a thousand workers.
  const { id, key } = shown(peer);
  return {
    id,
    key,
    services: [service.label],
    state: request === undefined ? 'idle' : 'busy',
    stateMs: elapsedMs(request ?? worker, now),
    silentMs: Math.max(0, now - worker.lastSeen),
    running: request === undefined ? 0 : 1,
    done,
    // Rule 14: a worker that loses its request is forgotten with it.
    resends: 0,
    refused: refused.of(peer.key),
  };
}
