/** Paranoid Pirate: the operator's view of a queue or pool, as one service. Costs time linear in what it lists, and nothing between calls. */
import type { ClientSnapshot, EngineSnapshot, RefusedPeers, WorkerSnapshot } from '@proj/transport/engine';
import { elapsedMs, namedApart, shown } from '@proj/transport/engine';
import { type Backend, WORK } from './backend.js';
import type { Output } from './output.js';
import type { Request, Worker } from './state.js';

/**
 * The snapshot at `now`. Peers at the backend that are not workers, but have dropped messages, are listed after `clients`; if a client has the
 * same routing id, theirs ends in ` (backend)`.
 */
export function detailOf<Asked extends Request>(
  backend: Backend<Asked>,
  { counters, figures, refused }: Output<unknown>,
  clients: readonly ClientSnapshot[],
  now: number,
): EngineSnapshot {
  const { dropped, ...totals } = counters;
  const { workers, busy, waiting, openRequests, openBytes } = backend.stats();
  const { state } = backend;
  const strangers = refused.backend.clients((peer) => state.workers.find(peer) !== undefined);
  let oldestWaitingMs = 0;
  for (const request of state.queue.heads()) oldestWaitingMs = Math.max(oldestWaitingMs, elapsedMs(request, now));
  return {
    protocol: 'ppp',
    counters: totals,
    dropped: { ...dropped },
    gauges: { workers, openRequests, openBytes },
    services: [{ name: WORK, ...figures.snapshot(), waiting, oldestWaitingMs, running: busy, workers }],
    workers: Array.from(state.workers.values(), (worker) => workerOf(worker, refused.backend, now)),
    clients: namedApart({ frontend: clients, backend: strangers }),
  };
}

function workerOf(worker: Worker<Request>, refused: RefusedPeers, now: number): WorkerSnapshot {
  const { peer, request, done, resends } = worker;
  return {
    ...shown(peer),
    services: [WORK],
    state: request === undefined ? 'idle' : 'busy',
    stateMs: elapsedMs(request ?? worker, now),
    silentMs: Math.max(0, now - worker.lastSeen),
    running: request === undefined ? 0 : 1,
    done,
    resends,
    refused: refused.of(peer.key),
  };
}
