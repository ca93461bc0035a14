/** Detects faults from the rows and their changes in the last seconds. Pure. */
import type { ClientRow, FaultRow, ServiceRow, WorkerRow } from './model.js';

/** What one worker did in the last seconds. */
export interface WorkerTrack {
  /** Seconds observed, at most five. */
  readonly seconds: number;
  /** Requests it finished in that time. */
  readonly done: number;
  /** Sum over these seconds of its requests at each moment: work in seconds. */
  readonly busySeconds: number;
  /** How long it has been busy without finishing anything. Milliseconds. */
  readonly stalledMs: number;
}

/** The input of {@link faultsOf}. */
export interface Figures {
  readonly services: Readonly<Record<string, ServiceRow>>;
  readonly workers: Readonly<Record<string, WorkerRow>>;
  readonly clients: Readonly<Record<string, ClientRow>>;
  /** By key of the worker. */
  readonly tracks: ReadonlyMap<string, WorkerTrack>;
  /** Messages rejected per second, by key of the worker or client. */
  readonly refusals: Readonly<Record<'workers' | 'clients', ReadonlyMap<string, number>>>;
  /** Why a server is not ready, by protocol. */
  readonly broken: ReadonlyMap<string, { readonly code: string; readonly text: string }>;
}

/** A job this long is stuck if there is no figure to compare it with. */
const STUCK_UNKNOWN_MS = 30_000;
/** A shorter job is never stuck. */
const STUCK_MIN_MS = 3000;
/** A job is stuck when it takes this many times the 99th percentile of its service. */
const STUCK_TIMES = 10;
/** A worker is slow when its jobs take this many times the median of its service. */
const SLOW_TIMES = 5;
const SLOW_MIN_MS = 100;
/** Seconds of observation before a worker is called slow. */
const SLOW_SECONDS = 3;
/** Rejected messages of one client per second. */
const FLOOD_PER_SECOND = 20;
const NO_WORKERS_MS = 1000;
/** A durable queue may have to wait for its consumers. */
const NO_CONSUMERS_MS = 60_000;

/** The faults at `now`, by `CODE/SUBJECT`. A fault that was already in `before`, one second earlier, keeps its `since`. */
export function faultsOf(
  figures: Figures,
  before: Readonly<Record<string, FaultRow>>,
  now: number,
): Record<string, FaultRow> {
  const found = [
    ...workersOf(figures),
    ...floodsOf('workers', figures),
    ...floodsOf('clients', figures),
    ...servicesOf(figures.services),
    ...brokenOf(figures.broken),
  ];
  return Object.fromEntries(
    found.map(({ subject, ...fault }) => {
      const key = `${fault.code}/${subject}`;
      return [key, { ...fault, since: before[key]?.since ?? now }];
    }),
  );
}

type Found = Omit<FaultRow, 'since'> & { readonly subject: string };

function workersOf({ workers, services, tracks }: Figures): Found[] {
  return Object.entries(workers).flatMap(([subject, worker]): Found[] => {
    const track = tracks.get(subject);
    if (track === undefined || worker.state !== 'busy') return [];
    const served = worker.services.map((name) => services[`${worker.protocol}/${name}`]?.work);
    const known = served.flatMap((work) => (work === undefined || work.count === 0 ? [] : [work]));
    const href = hrefOf('workers', subject);
    const what = worker.services.join(', ');
    const longest = Math.max(...known.map(({ p99 }) => p99 * STUCK_TIMES), STUCK_MIN_MS);
    if (track.stalledMs >= (known.length === 0 ? STUCK_UNKNOWN_MS : longest)) {
      const text = `Worker ${worker.id} (${what}) has finished nothing for ${seconds(track.stalledMs)}: look at its process, or disconnect it.`;
      return [{ code: 'stuck-worker', subject, href, text }];
    }
    const jobMs = (track.busySeconds * 1000) / Math.max(track.done, 1);
    const usual = Math.max(...known.map(({ p50 }) => p50));
    if (known.length === 0 || track.seconds < SLOW_SECONDS || jobMs < Math.max(SLOW_MIN_MS, SLOW_TIMES * usual))
      return [];
    const text = `Worker ${worker.id} (${what}) takes about ${seconds(jobMs)} for a job; the median is ${seconds(usual)}: look at its machine, or drain it.`;
    return [{ code: 'slow-worker', subject, href, text }];
  });
}

function floodsOf(kind: 'workers' | 'clients', figures: Figures): Found[] {
  const senders: Readonly<Record<string, Pick<ClientRow, 'id' | 'refused'>>> = figures[kind];
  return Object.entries(senders).flatMap(([subject, sender]): Found[] => {
    const rate = figures.refusals[kind].get(subject) ?? 0;
    if (rate < FLOOD_PER_SECOND) return [];
    const [reason] = Object.entries(sender.refused).reduce((most, next) => (next[1] > most[1] ? next : most), ['', 0]);
    const who = kind === 'workers' ? 'Worker' : 'Client';
    const text = `${who} ${sender.id} sends ${Math.round(rate)} messages per second that are rejected (${reason}): stop it, or revoke its rights.`;
    return [{ code: 'flooding-client', subject, href: hrefOf(kind, subject), text }];
  });
}

function servicesOf(services: Figures['services']): Found[] {
  return Object.entries(services).flatMap(
    ([subject, { protocol, name, waiting, workers, oldestWaitingMs, isDead }]): Found[] => {
      const patienceMs = protocol === 'pzq' ? NO_CONSUMERS_MS : NO_WORKERS_MS;
      // Dead letters wait for a person, or for a program that does not always run.
      if (isDead === true) return [];
      if (workers > 0 || waiting === 0 || oldestWaitingMs < patienceMs) return [];
      const text = `Service ${name} has no workers; ${waiting} requests are waiting, the oldest for ${seconds(oldestWaitingMs)}: start a worker.`;
      return [{ code: 'service-without-workers', subject, href: hrefOf('services', subject), text }];
    },
  );
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'free space on its disk',
  CORRUPT: 'stop the program, and run `proj queue salvage`',
};

/** The page of a store's owner. The store of a broker belongs to all its services. */
const OWNERS: Readonly<Record<string, string>> = { pzq: '/queue', scheduler: '/scheduler' };

function brokenOf(broken: Figures['broken']): Found[] {
  return [...broken].map(([subject, { code, text }]) => ({
    code: 'disk-full',
    subject,
    href: OWNERS[subject] ?? '/services',
    text: `The store of ${subject} cannot be written to (${code}: ${text}): ${REMEDIES[code] ?? 'look at its disk or database'}.`,
  }));
}

/** Keeps the protocol readable; ids may contain anything. */
function hrefOf(table: string, key: string): string {
  const [protocol = '', ...id] = key.split('/');
  return ['', table, protocol, ...(id.length === 0 ? [] : [encode(id.join('/'))])].join('/');
}

/** `encodeURIComponent` throws at lone surrogates, which peers may put into names. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
