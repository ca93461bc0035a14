/** What a Majordomo broker reports over MMI, ready to be drawn. Unknown figures are shown as unknown. Pure. */
import { printable } from '@proj/appkit';
import type { MmiServiceEntry, MmiWorkerEntry } from '@proj/client/mdp';
import { ago, count, rate } from '@proj/dashboard/shared';
import { figure, tableOf, text } from '../live-table.js';
import type { TablePlan } from '../live-table.js';
import type { Overview } from '../overview.js';
import { keyOf } from './rates.js';

/** The broker's answers at one moment. */
export interface MmiAnswers {
  /** Endpoints of the broker. */
  readonly where: string;
  readonly services: readonly MmiServiceEntry[];
  readonly workers: readonly MmiWorkerEntry[];
  /** Requests per second, by key of the service, where they are known. */
  readonly rates: ReadonlyMap<string, number>;
}

const UNKNOWN = -1;

const unlessUnknown = (format: (value: number) => string) => (value: number) =>
  value === UNKNOWN ? '-' : format(value);

const protocolOf = ({ version }: { readonly version: string }) => (version === '0.1' ? 'mdp01' : 'mdp');

/** Ages are relative to the answer, so no clock is needed. */
const table = <Row>(plan: Omit<TablePlan<MmiAnswers, Row>, 'nowOf'>) =>
  tableOf<MmiAnswers, Row>({ ...plan, nowOf: () => 0 });

interface ServiceRow extends MmiServiceEntry {
  readonly rate: number;
}

const SERVICES = table<ServiceRow>({
  title: 'Services',
  rowsOf: ({ services, rates }) =>
    services.map((service) => ({ ...service, rate: rates.get(keyOf(service)) ?? UNKNOWN })),
  textOf: (row) => `${protocolOf(row)} ${row.name}`,
  keyOf,
  sort: 'PER S',
  columns: [
    text('SERVICE', ({ name }) => name),
    text('PROTOCOL', protocolOf),
    figure('PER S', (row) => row.rate, unlessUnknown(rate)),
    figure('REQUESTS', ({ requests = UNKNOWN }) => requests, unlessUnknown(count)),
    figure('WAITING', ({ waiting }) => waiting),
    figure('RUNNING', ({ busy }) => busy),
    figure('WORKERS', ({ workers }) => workers),
  ],
});

const WORKERS = table<MmiWorkerEntry>({
  title: 'Workers',
  rowsOf: ({ workers }) => workers,
  textOf: (row) => `${protocolOf(row)} ${row.id} ${row.service} ${stateOf(row)}`,
  keyOf: ({ service, id }) => `${service}/${id}`,
  sort: 'HEARD',
  columns: [
    // A handler inside the broker has no id.
    text('WORKER', ({ id }) => (id === '' ? '(in the broker)' : id)),
    text('PROTOCOL', protocolOf),
    text('SERVICE', ({ service }) => service),
    text('STATE', stateOf),
    figure(
      'HEARD',
      ({ lastSeenMs }) => lastSeenMs,
      (age) => ago(0, age),
    ),
  ],
});

const UNTOLD =
  'MMI does not report failures, durations, clients or faults: for these, start proj-broker with --http and use proj top --http.';

/** The overview of these answers. */
export function overviewOf(answers: MmiAnswers): Overview {
  const { where, services, workers, rates } = answers;
  const sum = (value: (service: MmiServiceEntry) => number) => services.reduce((total, each) => total + value(each), 0);
  const figures = [
    ...(rates.size === 0 ? [] : [`${rate([...rates.values()].reduce((total, each) => total + each))} requests/s`]),
    `${count(sum(({ waiting }) => waiting))} waiting`,
    `${count(sum(({ busy }) => busy))} running`,
    `${count(workers.length)} workers`,
  ];
  return {
    headline: printable(`Majordomo broker at ${where}, over MMI`),
    figures: figures.join(', '),
    faults: [],
    untold: UNTOLD,
    tables: [SERVICES(answers), WORKERS(answers)],
  };
}

function stateOf({ busy }: MmiWorkerEntry): string {
  return busy ? 'busy' : 'idle';
}
