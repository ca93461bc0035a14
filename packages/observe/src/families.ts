/** The metrics of servers. Each family is computed from snapshots. The table in docs/operations.md lists them. Pure. */
import { bucketLimitMs } from '@proj/transport/engine';
import type { HistogramSnapshot, ServerSnapshot, ServiceSnapshot } from '@proj/transport/engine';
import { EMPTY, HistogramSum } from './histograms.js';

/** Labels of a sample. */
export type Labels = Readonly<Record<string, string>>;

/** One line: the name of its family, with a suffix for parts of a histogram. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
}

/** A metric without its values. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** A metric of servers. */
export interface ServerFamily extends Family {
  readonly samples: (servers: readonly ServerSnapshot[]) => Sample[];
}

/** Buckets end at powers of four microseconds, from a quarter of a millisecond to 18 minutes: every eighth bucket of the engines' histograms. */
const FIRST_BUCKET = 27;
const BUCKET_STEP = 8;
const LAST_BUCKET = 119;

/** Default number of services with their own series. */
export const SERVICES_MAX = 1000;

type Service = ServerSnapshot['services'][number];

/** All metrics of servers. */
export const SERVER_FAMILIES: readonly ServerFamily[] = [
  {
    name: 'proj_requests_total',
    type: 'counter',
    labels: ['protocol', 'service', 'outcome'],
    help: 'Requests that ended, by outcome; ok is success.',
    samples: (servers) =>
      ofServices(servers, ({ outcomes }) =>
        Object.entries(outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
      ),
  },
  countOf('proj_requests_accepted_total', 'counter', 'Requests accepted.', ({ requests }) => requests),
  countOf(
    'proj_request_resends_total',
    'counter',
    'Requests sent to another worker because the first was lost.',
    ({ resends }) => resends,
  ),
  countOf('proj_requests_waiting', 'gauge', 'Requests waiting for a worker.', ({ waiting }) => waiting),
  countOf(
    'proj_request_oldest_waiting_seconds',
    'gauge',
    'How long the oldest waiting request has waited.',
    ({ oldestWaitingMs }) => oldestWaitingMs / 1000,
  ),
  countOf('proj_requests_running', 'gauge', 'Requests being processed by workers.', ({ running }) => running),
  countOf(
    'proj_workers',
    'gauge',
    'Workers registered for the service; a worker of several services counts for each.',
    ({ workers }) => workers,
  ),
  durations('proj_request_wait_seconds', 'Time from acceptance to dispatch.', ({ waitMs }) => waitMs),
  durations('proj_request_work_seconds', 'Time from dispatch to the end, at the worker.', ({ workMs }) => workMs),
  {
    name: 'proj_worker_states',
    type: 'gauge',
    labels: ['protocol', 'state'],
    help: 'Workers by state, each counted once: idle, busy or away.',
    samples: (servers) =>
      servers.flatMap(({ protocol, workers }) =>
        ['idle', 'busy', 'away'].map((state) => ({
          labels: { protocol, state },
          value: workers.filter((worker) => worker.state === state).length,
        })),
      ),
  },
  recordOf(
    'proj_dropped_total',
    'counter',
    'reason',
    'Messages, requests and replies dropped, by reason.',
    ({ dropped }) => dropped,
  ),
  recordOf(
    'proj_handshakes_refused_total',
    'counter',
    'reason',
    'Connections refused at the handshake: key if the key may not connect, handshake for anything else.',
    ({ refused }) => refused,
  ),
  {
    name: 'proj_store_commit_seconds',
    type: 'histogram',
    labels: ['protocol', 'le'],
    help: 'Duration of store commits, including failed ones.',
    samples: (servers) =>
      servers.flatMap(({ protocol, commitMs }) =>
        commitMs === undefined
          ? []
          : histogramSamples(commitMs).map((sample) => ({ ...sample, labels: { protocol, ...sample.labels } })),
      ),
  },
  {
    name: 'proj_schedules',
    type: 'gauge',
    labels: ['protocol', 'result'],
    help: 'Scheduled jobs by the result of their last run; none if it has not run yet.',
    samples: (servers) =>
      servers.flatMap(({ protocol, jobs }) => (jobs === undefined ? [] : schedulesOf(protocol, jobs))),
  },
  recordOf(
    'proj_events_total',
    'counter',
    'event',
    'Other counters of the server, by name.',
    ({ counters }) => counters,
  ),
  recordOf('proj_server_size', 'gauge', 'what', 'Sizes of the server in items, by name.', ({ gauges }) =>
    pick(gauges, false),
  ),
  recordOf('proj_server_size_bytes', 'gauge', 'what', 'Sizes of the server in bytes, by name.', ({ gauges }) =>
    pick(gauges, true),
  ),
];

/** Bounds the number of series: services beyond the first `max` count as `other`. A name keeps its series while the service exists. */
export class ServiceNames {
  readonly #max: number;
  readonly #named = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The servers with at most `max` services by name. */
  bound(servers: readonly ServerSnapshot[]): ServerSnapshot[] {
    const present = new Set(
      servers.flatMap(({ protocol, services }) => services.map(({ name }) => `${protocol}/${name}`)),
    );
    for (const key of this.#named) if (!present.has(key)) this.#named.delete(key);
    return servers.map((server) => {
      const named: Service[] = [];
      let other: OtherServices | undefined;
      for (const service of server.services) {
        if (service.name !== 'other' && this.#has(`${server.protocol}/${service.name}`)) named.push(service);
        else (other ??= new OtherServices()).add(service);
      }
      return { ...server, services: other === undefined ? named : [...named, other.row] };
    });
  }

  #has(key: string): boolean {
    if (this.#named.size < this.#max) this.#named.add(key);
    return this.#named.has(key);
  }
}

/** The sum of several services under one name. */
class OtherServices {
  readonly #outcomes: Record<string, number> = {};
  readonly #sums = { requests: 0, resends: 0, waiting: 0, oldestWaitingMs: 0, running: 0, workers: 0 };
  readonly #wait = new HistogramSum();
  readonly #work = new HistogramSum();

  add(service: ServiceSnapshot): void {
    const { outcomes } = service;
    for (const outcome in outcomes) this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + (outcomes[outcome] ?? 0);
    this.#sums.requests += service.requests;
    this.#sums.resends += service.resends;
    this.#sums.waiting += service.waiting;
    this.#sums.oldestWaitingMs = Math.max(this.#sums.oldestWaitingMs, service.oldestWaitingMs);
    this.#sums.running += service.running;
    this.#sums.workers += service.workers;
    this.#wait.add(service.waitMs);
    this.#work.add(service.workMs);
  }

  get row(): ServiceSnapshot {
    const durations = { waitMs: this.#wait.snapshot, workMs: this.#work.snapshot };
    return { name: 'other', outcomes: this.#outcomes, ...this.#sums, ...durations };
  }
}

/** Results that are always present, so that their series do not come and go. */
const RESULTS = ['none', 'ok', 'broker-lost'];

function schedulesOf(protocol: string, jobs: NonNullable<ServerSnapshot['jobs']>): Sample[] {
  const counts = new Map(RESULTS.map((result) => [result, 0]));
  for (const { result = 'none' } of jobs) counts.set(result, (counts.get(result) ?? 0) + 1);
  return Array.from(counts, ([result, value]) => ({ labels: { protocol, result }, value }));
}

function ofServices(servers: readonly ServerSnapshot[], samples: (service: Service) => readonly Sample[]): Sample[] {
  return servers.flatMap(({ protocol, services }) =>
    services.flatMap((service) =>
      samples(service).map((sample) => ({ ...sample, labels: { protocol, service: service.name, ...sample.labels } })),
    ),
  );
}

function countOf(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (service: Service) => number,
): ServerFamily {
  const samples = (servers: readonly ServerSnapshot[]) =>
    ofServices(servers, (service) => [{ labels: {}, value: value(service) }]);
  return { name, type, labels: ['protocol', 'service'], help, samples };
}

function recordOf(
  name: string,
  type: 'counter' | 'gauge',
  label: string,
  help: string,
  record: (server: ServerSnapshot) => Readonly<Record<string, number>>,
): ServerFamily {
  const samples = (servers: readonly ServerSnapshot[]) =>
    servers.flatMap((server) =>
      Object.entries(record(server)).map(([key, value]) => ({
        labels: { protocol: server.protocol, [label]: key },
        value,
      })),
    );
  return { name, type, labels: ['protocol', label], help, samples };
}

function durations(name: string, help: string, histogram: (service: Service) => HistogramSnapshot): ServerFamily {
  const samples = (servers: readonly ServerSnapshot[]) =>
    ofServices(servers, (service) => histogramSamples(histogram(service)));
  return { name, type: 'histogram', labels: ['protocol', 'service', 'le'], help, samples };
}

function histogramSamples({ count, sumMs, buckets }: HistogramSnapshot = EMPTY): Sample[] {
  const samples: Sample[] = [];
  let total = 0;
  let next = 0;
  for (let last = FIRST_BUCKET; last < LAST_BUCKET; last += BUCKET_STEP) {
    while (next <= last) total += buckets[next++] ?? 0;
    samples.push({ suffix: '_bucket', labels: { le: String(bucketLimitMs(last) / 1000) }, value: total });
  }
  samples.push({ suffix: '_bucket', labels: { le: '+Inf' }, value: count });
  samples.push({ suffix: '_sum', labels: {}, value: sumMs / 1000 });
  samples.push({ suffix: '_count', labels: {}, value: count });
  return samples;
}

function pick(gauges: Readonly<Record<string, number>>, bytes: boolean): Record<string, number> {
  return Object.fromEntries(Object.entries(gauges).filter(([name]) => /bytes$/i.test(name) === bytes));
}
