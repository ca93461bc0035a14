/** A server for tests whose snapshot is whatever the test says. */
import { Histogram } from '@proj/transport/engine';
import type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';

/** What can be changed of the fake. */
export interface Fake {
  snapshot: ServerSnapshot;
  stats(): { detail: ServerSnapshot };
}

/** A fake facade. */
export function fakeServer(snapshot: Partial<ServerSnapshot> = {}): Fake {
  return {
    snapshot: {
      protocol: 'mdp',
      counters: {},
      dropped: {},
      gauges: {},
      services: [],
      workers: [],
      clients: [],
      refused: {},
      ...snapshot,
    },
    stats() {
      return { detail: this.snapshot };
    },
  };
}

/** A service with nothing to do. */
export function service(fields: Partial<ServiceSnapshot> = {}): ServiceSnapshot {
  return {
    name: 'echo',
    requests: 0,
    outcomes: {},
    resends: 0,
    waiting: 0,
    oldestWaitingMs: 0,
    running: 0,
    workers: 1,
    waitMs: durations(),
    workMs: durations(),
    ...fields,
  };
}

/** A worker that is idle. */
export function worker(fields: Partial<WorkerSnapshot> = {}): WorkerSnapshot {
  return {
    id: 'w1',
    services: ['echo'],
    state: 'idle',
    stateMs: 0,
    silentMs: 0,
    running: 0,
    done: 0,
    resends: 0,
    refused: {},
    ...fields,
  };
}

/** A client that has sent nothing. */
export function client(fields: Partial<ClientSnapshot> = {}): ClientSnapshot {
  return { id: 'c1', open: 0, refused: {}, ...fields };
}

/** A histogram of these durations in milliseconds. */
export function durations(...ms: readonly number[]): ReturnType<Histogram['snapshot']> {
  const histogram = new Histogram();
  for (const each of ms) histogram.record(each);
  return histogram.snapshot();
}
