/** Keeps the model of a process: a snapshot of each server per second, the changes, 15 minutes of history, and the latest notes. */
import { performance } from 'node:perf_hooks';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import type { HandshakeRefusal } from '@proj/transport';
import type { HistogramSnapshot, ServerSnapshot } from '@proj/transport/engine';
import { actionsOf } from './actions.js';
import { deltaOf } from './delta.js';
import { faultsOf } from './faults.js';
import type { WorkerTrack } from './faults.js';
import { EMPTY, latencyOf, sum } from './histograms.js';
import type { DeadLetterRow, Delta, HistoryPoint, Model, ProcessRow } from './model.js';
import { NoteLog } from './notes.js';
import type { Note } from './notes.js';
import { clientRow, scheduleRow, serverRow, serviceRow, workerRow } from './rows.js';
import { snapshotOf } from './server.js';
import type { ObservedServer } from './server.js';
import { ClientHistory, forget, kept, RecentDurations, ServiceTrack, WorkerHistory } from './tracks.js';

const SECOND_MS = 1000;
const HISTORY_MAX = 900;
const DEAD_LETTERS_MAX = 500;
const LATENCY_SECONDS = 10;

/** What to observe. */
export interface ObserveOptions {
  readonly servers: readonly ObservedServer[];
  /** Name and version of the program. */
  readonly name: string;
  readonly version: string;
  /** Whether actions are possible. Default: no. */
  readonly hasActions?: boolean;
  /** The memory limit for peers, and how much is in use. */
  readonly memory?: { stats(): { readonly maxBytes: number; readonly heldBytes: number } };
  /** Wall-clock milliseconds since 1970. For tests. */
  readonly now?: () => number;
  /** Calls the function every second until the returned function is called. For tests. */
  readonly every?: (tick: () => void) => () => void;
}

/** See {@link observe}. */
export interface Observer {
  readonly servers: readonly ObservedServer[];
  /** As of the last second. */
  readonly model: Model;
  /** Calls `listener` with every delta until the returned function is called. */
  onDelta(listener: (delta: Delta) => void): () => void;
  /** Adds a server's note. */
  note(protocol: string, note: Note): void;
  /** Adds a note about a connection that a server refused: at most one a minute per key or address, whatever the port. */
  refused(protocol: string, refusal: HandshakeRefusal): void;
  /** Whether the process is draining. */
  readonly isDraining: boolean;
  /** The process begins to drain: it is no longer ready. */
  draining(): void;
  /** Takes a snapshot now. Called every second, and by tests. */
  tick(): void;
  /** Stops. */
  close(): void;
}

/**
 * Observes servers, one snapshot per second. Its memory is bounded by what they list.
 *
 * ```ts
 * const observer = observe({ name: 'mine', version: '1.0.0', servers: [{ protocol: 'mdp', facade: broker }] });
 * ```
 */
export function observe(options: ObserveOptions): Observer {
  return new ProcessObserver(options);
}

class ProcessObserver implements Observer {
  readonly servers: readonly ObservedServer[];
  readonly #options: ObserveOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<(delta: Delta) => void>();
  readonly #commits = new Map<string, RecentDurations>();
  readonly #services = new Map<string, ServiceTrack>();
  readonly #workers = new Map<string, WorkerHistory>();
  readonly #clients = new Map<string, ClientHistory>();
  /** Tracks workers as senders of rejected messages. */
  readonly #senders = new Map<string, ClientHistory>();
  readonly #stop: () => void;
  readonly #startedAt: number;
  readonly #notes: NoteLog;
  #model: Model;
  #isDraining = false;
  #latencies: (readonly [HistogramSnapshot, HistogramSnapshot])[] = [];
  #busy: EventLoopUtilization = performance.eventLoopUtilization();
  #deadLetters: Readonly<Record<string, DeadLetterRow>> = {};
  #deadAsOf = '';
  #isListing = false;

  constructor(options: ObserveOptions) {
    this.#options = options;
    this.servers = options.servers;
    this.#now = options.now ?? Date.now;
    this.#notes = new NoteLog(this.#now);
    this.#startedAt = this.#now() - Math.round(process.uptime() * SECOND_MS);
    this.#model = {
      process: this.#processRow(),
      servers: {},
      services: {},
      workers: {},
      clients: {},
      deadLetters: {},
      faults: {},
      notes: [],
      history: [],
    };
    this.#observe();
    this.#stop = (options.every ?? everySecond)(() => {
      this.#second();
    });
  }

  get model(): Model {
    return this.#model;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  onDelta(listener: (delta: Delta) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  note(protocol: string, note: Note): void {
    this.#notes.add(protocol, note);
  }

  refused(protocol: string, refusal: HandshakeRefusal): void {
    this.#notes.refused(protocol, refusal);
  }

  draining(): void {
    this.#isDraining = true;
  }

  tick(): void {
    const before = this.#model;
    this.#observe();
    this.#tell(before);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  /** As {@link tick}, but a failure never ends the observed process: the last model stays. */
  #second(): void {
    const before = this.#model;
    try {
      this.#observe();
    } catch (error) {
      this.#notes.failed(error);
      this.#model = { ...before, notes: this.#notes.all() };
    }
    if (this.#model.notes !== before.notes || this.#model.history !== before.history) this.#tell(before);
  }

  #tell(before: Model): void {
    if (this.#listeners.size === 0) return;
    const delta = deltaOf(before, this.#model);
    for (const listener of this.#listeners) {
      try {
        listener(delta);
      } catch (error) {
        this.#notes.failed(error);
      }
    }
  }

  #observe(): void {
    const now = this.#now();
    const before = this.#model;
    const rows = new Rows();
    const tracks = new Map<string, WorkerTrack>();
    const refusals = { workers: new Map<string, number>(), clients: new Map<string, number>() };
    const broken = new Map<string, { readonly code: string; readonly text: string }>();
    const isFirst = before.history.length === 0;
    for (const server of this.servers) {
      const { protocol, facade, endpoints = {} } = server;
      const snapshot = snapshotOf(protocol, facade);
      const { commitMs } = snapshot;
      const commits = commitMs && kept(this.#commits, protocol, () => new RecentDurations()).next(commitMs);
      rows.servers.push([protocol, serverRow(snapshot, endpoints, actionsOf(server), commits)]);
      rows.dead += snapshot.gauges['dead'] ?? 0;
      rows.ready += snapshot.gauges['ready'] ?? 0;
      rows.inFlight += snapshot.gauges['inFlight'] ?? 0;
      this.#takeServices(protocol, snapshot, rows);
      for (const worker of snapshot.workers) {
        const key = `${protocol}/${worker.id}`;
        tracks.set(key, kept(this.#workers, key, () => new WorkerHistory()).next(worker, now));
        refusals.workers.set(key, kept(this.#senders, key, () => new ClientHistory(false)).next(worker));
        rows.workers.push([key, workerRow(protocol, worker, now, before.workers[key])]);
      }
      for (const client of snapshot.clients) {
        const key = `${protocol}/${client.id}`;
        refusals.clients.set(key, kept(this.#clients, key, () => new ClientHistory(!isFirst)).next(client));
        rows.clients.push([key, clientRow(protocol, client)]);
      }
      for (const job of snapshot.jobs ?? [])
        rows.schedules.push([job.id, scheduleRow(job, now, before.schedules?.[job.id])]);
      rows.hasSchedules ||= snapshot.jobs !== undefined;
      const fault = server.fault?.();
      if (fault !== undefined) broken.set(protocol, fault);
    }
    const tables = rows.tables();
    forget(this.#services, tables.services);
    forget(this.#workers, tables.workers);
    forget(this.#senders, tables.workers);
    forget(this.#clients, tables.clients);
    void this.#listDeadLetters(rows);
    this.#model = {
      process: this.#processRow(),
      ...tables,
      deadLetters: this.#deadLetters,
      faults: faultsOf({ ...tables, tracks, refusals, broken }, before.faults, now),
      notes: this.#notes.all(),
      history: [...before.history, this.#point(rows, now)].slice(-HISTORY_MAX),
    };
  }

  #takeServices(protocol: string, snapshot: ServerSnapshot, rows: Rows): void {
    for (const service of snapshot.services) {
      const key = `${protocol}/${service.name}`;
      const track = kept(this.#services, key, () => new ServiceTrack());
      const { ended, failed, wait, work } = track.next(service);
      rows.ended += ended;
      rows.failed += failed;
      rows.waiting += service.waiting;
      rows.running += service.running;
      rows.wait = sum(rows.wait, wait);
      rows.work = sum(rows.work, work);
      const [recentWait, recentWork] = track.recent;
      const before = this.#model.services[key];
      rows.services.push([key, serviceRow(protocol, service, track.rate, recentWait, recentWork, before)]);
    }
  }

  #point(rows: Rows, now: number): HistoryPoint {
    this.#latencies = [...this.#latencies, [rows.wait, rows.work] as const].slice(-LATENCY_SECONDS);
    const wait = latencyOf(this.#latencies.reduce((total, [each]) => sum(total, each), EMPTY));
    const work = latencyOf(this.#latencies.reduce((total, [, each]) => sum(total, each), EMPTY));
    const busy = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(busy, this.#busy);
    this.#busy = busy;
    return {
      at: Math.round(now / SECOND_MS),
      ended: rows.ended,
      failed: rows.failed,
      p50: wait.p50 + work.p50,
      p99: wait.p99 + work.p99,
      waiting: rows.waiting,
      running: rows.running,
      ready: rows.ready,
      inFlight: rows.inFlight,
      dead: rows.dead,
      busy: utilization,
      rssBytes: process.memoryUsage.rss(),
    };
  }

  /** Reads the list again if its length changed or items came and went. */
  async #listDeadLetters({ dead, servers }: Rows): Promise<void> {
    const asOf = JSON.stringify([
      dead,
      ...servers.map(([, { counters }]) =>
        Object.entries(counters).filter(([name]) => /dead|reviv|return|discard/i.test(name)),
      ),
    ]);
    if (this.#isListing || asOf === this.#deadAsOf) return;
    this.#isListing = true;
    try {
      const letters: [string, DeadLetterRow][] = [];
      for (const { deadLetters } of this.servers) {
        if (deadLetters === undefined) continue;
        for await (const { key, reason, deliveries, diedMicros, body } of deadLetters()) {
          const bytes = body.reduce((total, part) => total + part.byteLength, 0);
          letters.push([key, { id: key, reason, attempts: deliveries, bytes, at: Math.round(diedMicros / 1000) }]);
          if (letters.length >= DEAD_LETTERS_MAX) break;
        }
      }
      this.#deadLetters = Object.fromEntries(letters);
      this.#deadAsOf = asOf;
    } catch {
      // The store reports its own faults; the next second tries again.
    } finally {
      this.#isListing = false;
    }
  }

  #processRow(): ProcessRow {
    const { name, version, hasActions = false, memory } = this.#options;
    const { maxBytes = 0, heldBytes = 0 } = memory?.stats() ?? {};
    const { pid } = process;
    const startedAt = this.#startedAt;
    return {
      name,
      version,
      pid,
      startedAt,
      isDraining: this.#isDraining,
      hasActions,
      memoryMaxBytes: maxBytes,
      memoryHeldBytes: heldBytes,
    };
  }
}

/** The rows of one second while they are collected. */
class Rows {
  readonly servers: [string, Model['servers'][string]][] = [];
  readonly services: [string, Model['services'][string]][] = [];
  readonly workers: [string, Model['workers'][string]][] = [];
  readonly clients: [string, Model['clients'][string]][] = [];
  readonly schedules: [string, NonNullable<Model['schedules']>[string]][] = [];
  hasSchedules = false;
  wait = EMPTY;
  work = EMPTY;
  ended = 0;
  failed = 0;
  waiting = 0;
  running = 0;
  ready = 0;
  inFlight = 0;
  dead = 0;

  tables(): Pick<Model, 'servers' | 'services' | 'workers' | 'clients' | 'schedules'> {
    return {
      servers: Object.fromEntries(this.servers),
      services: Object.fromEntries(this.services),
      workers: Object.fromEntries(this.workers),
      clients: Object.fromEntries(this.clients),
      ...(this.hasSchedules ? { schedules: Object.fromEntries(this.schedules) } : {}),
    };
  }
}

function everySecond(tick: () => void): () => void {
  const timer = setInterval(tick, SECOND_MS).unref();
  return () => {
    clearInterval(timer);
  };
}
