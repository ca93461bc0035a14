/** From snapshots to rows of the model. Pure. */
import type { ClientSnapshot, ServerSnapshot, ServiceSnapshot, WorkerSnapshot } from '@proj/transport/engine';
import type { ClientRow, LatencyRow, ServerRow, ServiceRow, WorkerRow } from './model.js';

/** Two clocks tell a moment this exactly; a moment that moved less is the same one. */
const JITTER_MS = 50;

/** The row of a server. */
export function serverRow(
  { protocol, counters, dropped, gauges }: ServerSnapshot,
  endpoints: Readonly<Record<string, string>>,
  actions: ServerRow['actions'],
): ServerRow {
  return { protocol, endpoints, counters, dropped, gauges, actions };
}

/** The row of a service. */
export function serviceRow(
  protocol: string,
  service: ServiceSnapshot,
  rate: number,
  wait: LatencyRow,
  work: LatencyRow,
): ServiceRow {
  const { waitMs: _wait, workMs: _work, ...rest } = service;
  return { protocol, ...rest, rate, wait, work };
}

/** The row of a worker. Its moments stay as they were in `before` unless they have really moved. */
export function workerRow(
  protocol: string,
  { stateMs, silentMs, key, ...worker }: WorkerSnapshot,
  now: number,
  before: WorkerRow | undefined,
): WorkerRow {
  return {
    protocol,
    ...worker,
    stateSince: steady(now - stateMs, before?.stateSince),
    lastHeard: steady(now - silentMs, before?.lastHeard),
    ...(key === undefined ? {} : { key }),
  };
}

/** The row of a client. */
export function clientRow(protocol: string, { id, open, refused, key }: ClientSnapshot): ClientRow {
  return { protocol, id, open, refused, ...(key === undefined ? {} : { key }) };
}

function steady(moment: number, before: number | undefined): number {
  const rounded = Math.round(moment);
  return before !== undefined && Math.abs(rounded - before) < JITTER_MS ? before : rounded;
}
