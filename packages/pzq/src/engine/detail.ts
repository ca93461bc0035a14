/** PZQ: the operator's view of a queue, as one service, and another one for dead letters that are delivered. Costs nothing between calls. */
import type { ClientSnapshot, EngineSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import { elapsedMs, namedApart, shown } from '@proj/transport/engine';
import { statsOf } from './monitor.js';
import type { QueueState, Way } from './state.js';

/**
 * The snapshot at `now` of the queue `name`. Consumers are its workers, if the transport distinguishes them; producers that wait for answers are
 * its clients. A message waits from when it was stored, its delay ended, or it came back.
 */
export function detailOf(state: QueueState, name: string, now: number): EngineSnapshot {
  const { dead, out, producers, queue } = state;
  const { counters, storeState, store: _store, ready, ...sizes } = statsOf(state);
  const { dropped, ...totals } = counters;
  const open = Array.from(producers.open(), ([peer, waiting]): ClientSnapshot => ({
    ...shown(peer),
    open: waiting,
    refused: out.refused.receive.of(peer.key),
  }));
  const queueWorkers = workersOf(state, queue, name, now);
  const deadWorkers = dead === undefined ? [] : workersOf(state, dead, `${name}.dead`, now);
  return {
    protocol: 'pzq',
    counters: totals,
    dropped: { ...dropped },
    gauges: { ...sizes, ready, storeOk: storeState === 'ok' ? 1 : 0 },
    services: [
      serviceOf(state, queue, name, ready, now),
      ...(dead === undefined
        ? []
        : [serviceOf(state, dead, `${name}.dead`, Math.max(0, sizes.dead - dead.side.inFlight), now)]),
    ],
    workers: namedApart({ queue: queueWorkers, 'dead letters': deadWorkers }),
    clients: namedApart({
      receive: [...open, ...out.refused.receive.clients((peer) => producers.find(peer))],
      send: out.refused.queue.clients(({ key }) => queue.side.consumers.connected.has(key)),
      'dead letters': out.refused['dead-letters'].clients(
        ({ key }) => dead?.side.consumers.connected.has(key) === true,
      ),
      monitor: out.refused.monitor.clients(),
    }),
    commitMs: out.commitMs.snapshot(),
  };
}

function serviceOf(
  { out, isPaused }: QueueState,
  { side }: Way,
  name: string,
  waiting: number,
  now: number,
): ServiceSnapshot {
  let oldestWaitingMs = 0;
  for (const message of side.messages())
    if (message.where === 'ready' || message.where === 'offered')
      oldestWaitingMs = Math.max(oldestWaitingMs, elapsedMs(message, now));
  return {
    name,
    ...out.figures[side.name].snapshot(),
    waiting,
    oldestWaitingMs,
    running: side.inFlight,
    workers: side.consumers.connected.size,
    ...(isPaused && side.name === 'queue' ? { isPaused } : {}),
    ...(side.name === 'queue' ? {} : { isDead: true as const }),
  };
}

function workersOf({ out }: QueueState, { side }: Way, name: string, now: number): WorkerSnapshot[] {
  return Array.from(side.consumers.connected.values(), (consumer) => ({
    ...shown(consumer.peer),
    services: [name],
    state: consumer.count > 0 ? 'busy' : 'idle',
    stateMs: elapsedMs(consumer, now),
    silentMs: Math.max(0, now - consumer.lastSeen),
    running: consumer.count,
    done: consumer.done,
    resends: consumer.resends,
    refused: out.refused[side.name].of(consumer.peer.key),
  }));
}
