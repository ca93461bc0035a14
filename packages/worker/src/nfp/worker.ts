/** NFP worker, the facade: jobs for one service of a NORFAB broker. Rules: session.ts and docs/protocols/nfp.md section 8. */
import { createHash } from 'node:crypto';
import { NfpLogBook } from '@proj/frames/nfp';
import type { NfpLogLevel } from '@proj/frames/nfp';
import { Emitter, memoryRecords, parseOptions, ProjError, UnheardErrors } from '@proj/transport';
import type { HandshakeRefusal, RecordStore, Transport } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';
import manifest from '../../package.json' with { type: 'json' };
import type { LossReason } from '../shared/events.js';
import { taskRow } from './base/catalogue.js';
import { baseTasks } from './base/tasks.js';
import type { BaseTasksHost } from './base/tasks.js';
import type { NfpWorkerNote } from './engine/events.js';
import { NfpTotals } from './counts.js';
import type { NfpWorkerTotals } from './counts.js';
import { joinJson } from './engine/bodies.js';
import { NfpWorkerHost } from './host.js';
import { jobKeys } from './engine/job.js';
import { nfpWorkerOptions } from './options.js';
import type { NfpWorkerOptions, NfpWorkerSettings } from './options.js';
import { NfpWorkerSession } from './engine/session.js';
import type { NfpWorkerCounters } from './engine/session-options.js';
import { errorText, TaskBook } from './task-book.js';

/** Events of an {@link NfpWorker}. */
export interface NfpWorkerEvents {
  /** The broker was heard for the first time in a conversation. */
  ready: { readonly endpoint: string };
  /** A conversation was lost; the next one begins in `retryInMs`. Jobs go on. */
  lost: { readonly endpoint: string; readonly reason: LossReason; readonly retryInMs: number };
  /** A management command was obeyed; after `shutdown` the worker drains by itself. */
  management: { readonly task: 'restart' | 'shutdown' | 'disconnect' };
  /** The handshake of CURVE failed: the broker is not who it should be, or does not let us in. It is tried again. */
  refused: HandshakeRefusal;
  /** Anything worth a log line or a counter, `ready`, `lost` and the life of each job included. */
  note: NfpWorkerNote;
  /** A task threw, the store failed, or a socket did. The worker goes on. `uuid`: of the job, where there is one. Where nobody listens: standard error, once a minute. */
  error: { readonly error: unknown; readonly uuid?: string };
}

/** Sizes now and totals since construction. */
export interface NfpWorkerStats extends NfpWorkerCounters, NfpWorkerTotals {}

/** Characters of a digest: 132 bits, so that no two calls are taken for the same. */
const DIGEST_LENGTH = 22;

/** How notes are shown by `get_logs`; all others as DEBUG. */
const LEVELS: Readonly<Partial<Record<NfpWorkerNote['code'], NfpLogLevel>>> = {
  ready: 'INFO',
  left: 'INFO',
  management: 'INFO',
  lost: 'WARNING',
  'store-failed': 'WARNING',
  'inventory-failed': 'WARNING',
  'volatile-store': 'WARNING',
};

/**
 * Serves one service of a NORFAB broker: accepts a job when it is in the store, runs `concurrency` of them at a time in the
 * order of acceptance, and keeps results for whoever asks.
 *
 * ```ts
 * await using worker = new NfpWorker({ service: 'math', name: 'math-1', tasks: { add: ({ args }) => args[0] + args[1] } });
 * await worker.start();
 * ```
 *
 * A job may run more than once, after a crash: tasks are idempotent, or `crashPolicy` is `fail`.
 */
export class NfpWorker {
  readonly #settings: NfpWorkerSettings;
  readonly #store: RecordStore;
  readonly #tasks: TaskBook;
  readonly #session: NfpWorkerSession;
  readonly #events = new Emitter<NfpWorkerEvents>();
  readonly #unheard: UnheardErrors;
  readonly #totals = new NfpTotals();
  readonly #logs: NfpLogBook;
  #transport: Transport | undefined;
  #host: NfpWorkerHost | undefined;
  #starting: Promise<void> | undefined;
  #isEnding = false;
  #startedAt = 0;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpWorkerOptions) {
    const settings = parseOptions('NfpWorker', nfpWorkerOptions, options);
    this.#settings = settings;
    this.#unheard = new UnheardErrors(`NfpWorker ${JSON.stringify(settings.name)}`);
    this.#store = settings.store ?? memoryRecords();
    this.#logs = new NfpLogBook({ role: 'worker', name: settings.name, logger: 'proj.worker.nfp' });
    const base = settings.baseTasks ? baseTasks(this.#baseTasksHost()) : {};
    this.#tasks = new TaskBook({ ...base, ...settings.tasks });
    this.#session = new NfpWorkerSession(
      { ...settings, taskList: this.#tasks.list },
      {
        random: () => this.#loaded().entropy.random(),
        wallMicros: () => this.#loaded().entropy.wallMicros(),
        digest: (text) => createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH),
      },
    );
  }

  /**
   * Opens the store, goes on with the jobs it holds, and says READY; resolves when that is done, whether or not a broker is
   * there. Rejects with `UNAVAILABLE` (no ZeroMQ or no database on this machine), `CORRUPT`, `OPTIONS_INVALID` (an endpoint the
   * transport refuses, a folder the store cannot use) or `CLOSED`, and nothing is left open. Idempotent.
   */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  /**
   * Accepts and begins nothing more, lets running tasks finish within `drainMs`, says DISCONNECT, closes. Jobs that wait stay in
   * the store for the next start, and so do running ones that had to be aborted. Idempotent.
   */
  drain(): Promise<void> {
    return this.#finish('drain');
  }

  /** As {@link NfpWorker.drain}, but aborts running tasks at once; resolves when they have ended. Idempotent, also during a drain. */
  close(): Promise<void> {
    return this.#finish('close');
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it. */
  on<Name extends keyof NfpWorkerEvents>(name: Name, listener: (event: NfpWorkerEvents[Name]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /** Sizes now and totals since construction, as a copy. */
  stats(): NfpWorkerStats {
    return { ...this.#session.counters(), ...this.#totals.get() };
  }

  async #start(): Promise<void> {
    this.#assertOpen();
    const transport = await loadTransport(this.#settings.transport);
    this.#assertOpen();
    this.#transport = transport;
    await this.#store.open();
    this.#startedAt = transport.clock.now();
    const host = this.#newHost(transport);
    this.#host = host;
    try {
      this.#assertOpen();
      if (this.#settings.store === undefined) this.#onNote({ code: 'volatile-store' });
      await host.start();
      this.#assertOpen();
    } catch (error) {
      await host.finish('close');
      throw error;
    }
  }

  async #finish(how: 'drain' | 'close'): Promise<void> {
    this.#isEnding = true;
    // A start that is under way finds out by itself, and leaves nothing open.
    await this.#starting?.catch(() => undefined);
    await this.#host?.finish(how);
  }

  #newHost(transport: Transport): NfpWorkerHost {
    return new NfpWorkerHost(
      {
        settings: this.#settings,
        session: this.#session,
        store: this.#store,
        tasks: this.#tasks,
        onNote: this.#onNote,
        onError: (error, uuid) => {
          this.#log('ERROR', errorText(error), uuid === undefined ? {} : { uuid });
          if (this.#events.has('error')) this.#events.emit('error', uuid === undefined ? { error } : { error, uuid });
          else this.#unheard.tell(error);
        },
        onPutDropped: () => {
          this.#totals.putDropped();
        },
        onRefused: (refusal) => {
          this.#events.emit('refused', refusal);
        },
      },
      transport,
    );
  }

  /** Whoever calls a base task has a host by then. */
  #baseTasksHost(): BaseTasksHost {
    const { name, service, versions, shellCommands } = this.#settings;
    return {
      ...{ name, service, shellCommands, logs: this.#logs },
      versions: {
        '@proj/worker': manifest.version,
        node: process.versions.node,
        platform: process.platform,
        ...versions,
      },
      clock: () => this.#loaded().clock,
      uptimeMs: () => this.#loaded().clock.now() - this.#startedAt,
      inventoryState: () => (this.#host as NfpWorkerHost).services.inventoryState,
      wallMs: () => Math.floor(this.#loaded().entropy.wallMicros() / 1000),
      catalogue: () => [...this.#tasks.entries()].map(([task, definition]) => taskRow(task, definition)),
      jobs: (filter) => this.#session.jobs(filter),
      record: (kind, uuid) => this.#record(kind, uuid),
      deleteFetched: (pattern) => (this.#host as NfpWorkerHost).services.deleteFetched(pattern),
    };
  }

  /** JSON of a record of a job. Events of one that has not ended are in memory. */
  async #record(kind: 'call' | 'result' | 'events', uuid: string): Promise<unknown> {
    const told = kind === 'events' ? this.#session.eventsOf(uuid) : undefined;
    const record = told === undefined ? await this.#store.get(jobKeys[kind](uuid)) : joinJson(told);
    return record === undefined ? undefined : (JSON.parse(Buffer.from(record).toString()) as unknown);
  }

  #log(level: NfpLogLevel, message: string, fields: object): void {
    this.#logs.add(Math.floor(this.#loaded().entropy.wallMicros() / 1000), level, message, fields);
  }

  readonly #onNote = (note: NfpWorkerNote): void => {
    this.#totals.add(note);
    const { code: message, ...fields } = note;
    this.#log(LEVELS[message] ?? 'DEBUG', message, fields);
    if (note.code === 'ready' || note.code === 'lost' || note.code === 'management') {
      const { code, ...event } = note;
      this.#events.emit(code, event);
    }
    this.#events.emit('note', note);
  };

  #assertOpen(): void {
    if (this.#isEnding)
      throw new ProjError('CLOSED', `NfpWorker ${JSON.stringify(this.#settings.name)}: it was closed`);
  }

  /** Nobody asks before the first event of the session, which comes when the transport is there. */
  #loaded(): Transport {
    if (this.#transport === undefined) throw new Error('NfpWorker: not started');
    return this.#transport;
  }
}
