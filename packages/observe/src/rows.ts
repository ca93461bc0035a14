/** Converts snapshots to rows of the model. Pure. */
import type {
  ClientSnapshot,
  JobSnapshot,
  ServerSnapshot,
  ServiceSnapshot,
  WorkerSnapshot,
} from '@proj/transport/engine';
import type { ClientRow, LatencyRow, ScheduleRow, ServerRow, ServiceRow, WorkerRow } from './model.js';

/** Precision of a moment computed from two clocks; a smaller move counts as none. */
const JITTER_MS = 50;

/** The row of a server. */
export function serverRow(
  { protocol, counters, dropped, gauges, refused }: ServerSnapshot,
  endpoints: Readonly<Record<string, string>>,
  actions: ServerRow['actions'],
  commit: LatencyRow | undefined,
): ServerRow {
  const row = { protocol, endpoints, counters, dropped, gauges, refused, actions };
  return commit === undefined ? row : { ...row, commit };
}

/** The row of a service; `before` itself if nothing has changed. */
export function serviceRow(
  protocol: string,
  service: ServiceSnapshot,
  rate: number,
  wait: LatencyRow,
  work: LatencyRow,
  before: ServiceRow | undefined,
): ServiceRow {
  if (
    before?.outcomes === service.outcomes &&
    before.wait === wait &&
    before.work === work &&
    before.requests === service.requests &&
    before.resends === service.resends &&
    before.rate === rate &&
    before.waiting === service.waiting &&
    before.oldestWaitingMs === service.oldestWaitingMs &&
    before.running === service.running &&
    before.workers === service.workers &&
    before.isPaused === service.isPaused &&
    before.isDead === service.isDead
  )
    return before;
  const { waitMs: _wait, workMs: _work, ...figures } = service;
  return { protocol, ...figures, rate, wait, work };
}

/** The row of a worker. Keeps the moments in `before` unless they have really moved. */
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

/** The row of a scheduled job. Keeps the moments in `before` unless they have really moved. */
export function scheduleRow(job: JobSnapshot, now: number, before: ScheduleRow | undefined): ScheduleRow {
  const { id, service, schedule, nextMs, fired, result, resultMs } = job;
  return {
    id,
    when: schedule,
    target: service,
    runs: fired,
    ...(nextMs === undefined ? {} : { nextAt: steady(now + nextMs, before?.nextAt) }),
    ...(resultMs === undefined ? {} : { lastAt: steady(now - resultMs, before?.lastAt) }),
    ...(result === undefined ? {} : { lastOutcome: result }),
  };
}

function steady(moment: number, before: number | undefined): number {
  const rounded = Math.round(moment);
  return before !== undefined && Math.abs(rounded - before) < JITTER_MS ? before : rounded;
}
