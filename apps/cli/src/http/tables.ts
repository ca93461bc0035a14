/** The tables of what a program reports over HTTP. Pure. */
import { ago, duration, failures, rate, serverNow } from '@proj/dashboard/shared';
import type { Model, ScheduleRow, ServiceRow, WorkerRow } from '@proj/dashboard/shared';
import { figure, tableOf, text } from '../live-table.js';
import type { Column, TablePlan } from '../live-table.js';

/** A table of the model, which has a clock of its own. */
const table = <Row>(plan: Omit<TablePlan<Model, Row>, 'nowOf'>) => tableOf<Model, Row>({ ...plan, nowOf: serverNow });

const unlessNone =
  <Row>(has: (row: Row) => boolean) =>
  (value: number, row: Row) =>
    has(row) ? duration(value) : '-';

/** How many messages of a peer were refused, and why. */
const refusals: readonly Column<{ readonly refused: Readonly<Record<string, number>> }>[] = [
  figure('REFUSED', ({ refused }) => Object.values(refused).reduce((sum, each) => sum + each, 0)),
  text('REASONS', ({ refused }) =>
    Object.entries(refused)
      .map(([reason, times]) => `${reason} ${times}`)
      .join(' '),
  ),
];

const named = {
  textOf: ({ protocol, name }: { readonly protocol: string; readonly name: string }) => `${protocol} ${name}`,
  keyOf: ({ protocol, name }: { readonly protocol: string; readonly name: string }) => `${protocol}/${name}`,
};

const isQueue = ({ protocol }: ServiceRow) => protocol === 'pzq' || protocol === 'emqp';

/** A queue: of EventMQ, or the durable queue, which also counts delayed and dead messages. */
interface QueueRow {
  readonly protocol: string;
  readonly name: string;
  readonly rate: number;
  readonly ready: number;
  readonly inFlight: number;
  readonly oldestMs: number;
  readonly workers: number;
  readonly delayed: number;
  readonly dead: number;
  readonly isPaused: boolean;
}

/** A durable queue that reports no more about itself still has its sizes. */
function queuesOf({ services, servers }: Model): QueueRow[] {
  const { delayed = 0, dead = 0, ready = 0, inFlight = 0 } = servers['pzq']?.gauges ?? {};
  const queues = Object.values(services).filter(isQueue);
  const rows = queues.map(({ protocol, name, waiting, running, oldestWaitingMs, ...row }) => ({
    ...{ protocol, name, rate: row.rate, workers: row.workers, oldestMs: oldestWaitingMs },
    ...{ ready: waiting, inFlight: running, isPaused: row.isPaused === true },
    ...(protocol === 'pzq' && row.isDead !== true ? { delayed, dead } : { delayed: 0, dead: 0 }),
  }));
  if (servers['pzq'] === undefined || rows.some(({ protocol }) => protocol === 'pzq')) return rows;
  const unknown = { rate: 0, oldestMs: 0, workers: 0, isPaused: false };
  return [...rows, { protocol: 'pzq', name: 'pzq', ...unknown, ready, inFlight, delayed, dead }];
}

const SERVICES = table<ServiceRow>({
  title: 'Services',
  rowsOf: ({ services }) => Object.values(services).filter((row) => !isQueue(row)),
  ...named,
  sort: 'PER S',
  columns: [
    text('SERVICE', ({ name }) => name),
    text('PROTOCOL', ({ protocol }) => protocol),
    figure('PER S', (row) => row.rate, rate),
    figure('FAILED', failures),
    figure('WAITING', ({ waiting }) => waiting),
    figure(
      'OLDEST',
      ({ oldestWaitingMs }) => oldestWaitingMs,
      unlessNone(({ waiting }) => waiting > 0),
    ),
    figure('RUNNING', ({ running }) => running),
    figure(
      'P50',
      ({ work }) => work.p50,
      unlessNone(({ work }) => work.count > 0),
    ),
    figure(
      'P99',
      ({ work }) => work.p99,
      unlessNone(({ work }) => work.count > 0),
    ),
    figure('WORKERS', ({ workers }) => workers),
  ],
});

const QUEUES = table<QueueRow>({
  title: 'Queues',
  rowsOf: queuesOf,
  ...named,
  sort: 'READY',
  columns: [
    text('QUEUE', ({ name }) => name),
    text('PROTOCOL', ({ protocol }) => protocol),
    figure('PER S', (row) => row.rate, rate),
    figure('READY', ({ ready }) => ready),
    figure(
      'OLDEST',
      ({ oldestMs }) => oldestMs,
      unlessNone(({ oldestMs }) => oldestMs > 0),
    ),
    figure('IN FLIGHT', ({ inFlight }) => inFlight),
    figure('DELAYED', ({ delayed }) => delayed),
    figure('DEAD', ({ dead }) => dead),
    figure('WORKERS', ({ workers }) => workers),
    text('STATE', ({ isPaused }) => (isPaused ? 'paused' : '')),
  ],
});

const WORKERS = table<WorkerRow>({
  title: 'Workers',
  rowsOf: ({ workers }) => Object.values(workers),
  textOf: ({ protocol, id, state, services }) => `${protocol} ${id} ${state} ${services.join(' ')}`,
  keyOf: ({ protocol, id }) => `${protocol}/${id}`,
  sort: 'STATE FOR',
  columns: [
    text('WORKER', ({ id }) => id),
    text('PROTOCOL', ({ protocol }) => protocol),
    text('SERVICES', ({ services }) => services.join(' ')),
    text('STATE', ({ state }) => state),
    figure('STATE FOR', ({ stateSince }, now) => Math.max(0, now - stateSince), duration),
    figure(
      'HEARD',
      ({ lastHeard }, now) => Math.max(0, now - lastHeard),
      (age) => ago(0, age),
    ),
    figure('RUNNING', ({ running }) => running),
    figure('DONE', ({ done }) => done),
    figure('RESENDS', ({ resends }) => resends),
    ...refusals,
  ],
});

const CLIENTS = table<Model['clients'][string]>({
  title: 'Clients',
  rowsOf: ({ clients }) => Object.values(clients),
  textOf: ({ protocol, id, refused }) => `${protocol} ${id} ${Object.keys(refused).join(' ')}`,
  keyOf: ({ protocol, id }) => `${protocol}/${id}`,
  sort: 'REFUSED',
  columns: [
    text('CLIENT', ({ id }) => id),
    text('PROTOCOL', ({ protocol }) => protocol),
    figure('OPEN', ({ open }) => open),
    ...refusals,
  ],
});

const SCHEDULES = table<ScheduleRow>({
  title: 'Schedules',
  rowsOf: ({ schedules = {} }) => Object.values(schedules),
  textOf: ({ id, target, when, lastOutcome = '' }) => `${id} ${target} ${when} ${lastOutcome}`,
  keyOf: ({ id }) => id,
  sort: 'NEXT IN',
  isAscending: true,
  columns: [
    text('SCHEDULE', ({ id }) => id),
    text('JOB', ({ target }) => target),
    text('WHEN', ({ when }) => when),
    {
      ...{ heading: 'NEXT IN', isFigure: true },
      value: ({ nextAt = Infinity }, now) => Math.max(0, nextAt - now),
      cell: ({ nextAt }, now) => (nextAt === undefined ? 'never' : duration(Math.max(0, nextAt - now))),
    },
    figure('RUNS', ({ runs }) => runs),
    text('LAST', ({ lastOutcome = '' }) => lastOutcome),
  ],
});

/** The tables, in display order. */
export const TABLES = [SERVICES, QUEUES, WORKERS, CLIENTS, SCHEDULES] as const;
