/** NFP worker, the facade: jobs for one service of a NORFAB broker. Rules: engine/session.ts and docs/protocols/nfp.md section 8. */
import { createHash } from 'node:crypto';
import { NfpLogBook } from '@proj/frames/nfp';
import type { NfpLogLevel } from '@proj/frames/nfp';
import { memoryRecords, parseOptions } from '@proj/transport';
import type { HandshakeRefusal, RecordStore, Startable, Transport } from '@proj/transport';
import { Tracing } from '@proj/transport/tracing';
import manifest from '../../package.json' with { type: 'json' };
import type { LossReason } from '../shared/events.js';
import { WorkerLife } from '../worker-life.js';
import { taskRow } from './base/catalogue.js';
import { jobRows } from './base/job-rows.js';
import { baseTasks } from './base/tasks.js';
import type { BaseTasksHost } from './base/tasks.js';
import { NfpTotals } from './counts.js';
import type { NfpWorkerTotals } from './counts.js';
import { joinJson } from './engine/jobs/bodies.js';
import type { NfpWorkerCounters, NfpWorkerNote } from './engine/events.js';
import { jobKeys } from './engine/records.js';
import { NfpWorkerSession } from './engine/session.js';
import { NfpWorkerHost } from './host.js';
import { nfpWorkerOptions } from './options.js';
import type { NfpWorkerOptions, NfpWorkerSettings } from './options.js';
import { errorText, TaskBook } from './task-book.js';

/** Events of an {@link NfpWorker}. */
export interface NfpWorkerEvents {
  /** First message from the broker in a conversation. */
  ready: { readonly endpoint: string };
  /** A conversation was lost; the next one begins in `retryInMs`. Jobs continue. */
  lost: { readonly endpoint: string; readonly reason: LossReason; readonly retryInMs: number };
  /** A management command was executed; after `shutdown` the worker drains by itself. */
  management: { readonly task: 'restart' | 'shutdown' | 'disconnect' };
  /** A handshake with a broker failed, because of its key or ours; it will be retried. */
  refused: HandshakeRefusal;
  /** A note for a log line or a counter, including `ready`, `lost` and the life of each job. */
  note: NfpWorkerNote;
  /**
   * A task threw, the store failed, or a socket did. The worker continues. `uuid`: the job's, if there is one. Without a listener: standard
   * error, once a minute.
   */
  error: { readonly error: unknown; readonly uuid?: string };
}

/** Current sizes and totals since construction. */
export interface NfpWorkerStats extends NfpWorkerCounters, NfpWorkerTotals {}

/** Length of a digest in characters: 132 bits, so that no two calls are confused. */
const DIGEST_LENGTH = 22;

/** The levels at which `get_logs` shows notes; all others are DEBUG. */
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
 * Serves one service of a NORFAB broker: accepts a job once it is stored, runs `concurrency` jobs at a time in the order of acceptance, and
 * keeps results for any client that asks.
 *
 * ```ts
 * await using worker = new NfpWorker({ service: 'math', name: 'math-1', tasks: { add: ({ args }) => args[0] + args[1] } });
 * await worker.start();
 * ```
 *
 * A job may run again after a crash: make tasks idempotent, or set `crashPolicy` to `fail`.
 */
export class NfpWorker implements Startable<NfpWorkerEvents> {
  readonly #settings: NfpWorkerSettings;
  readonly #store: RecordStore;
  readonly #tasks: TaskBook;
  readonly #session: NfpWorkerSession;
  readonly #life: WorkerLife<NfpWorkerEvents>;
  readonly #totals = new NfpTotals();
  readonly #logs: NfpLogBook;
  #transport: Transport | undefined;
  #host: NfpWorkerHost | undefined;
  #startedAt = 0;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpWorkerOptions) {
    const settings = parseOptions('NfpWorker', nfpWorkerOptions, options);
    this.#settings = settings;
    this.#life = new WorkerLife(`NfpWorker ${JSON.stringify(settings.name)}`);
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
   * Also continues the stored jobs; resolves whether or not a broker is there. Rejects with `UNAVAILABLE`, `CORRUPT` or `OPTIONS_INVALID` if the
   * store cannot be opened or read.
   */
  start(): Promise<void> {
    return this.#life.start(this.#settings.transport, this.#settings.curve, (transport) => this.#start(transport));
  }

  /** Running tasks have `drainMs`. Waiting jobs stay in the store for the next start, and so do running ones that had to be aborted. */
  drain(): Promise<void> {
    return this.#finish('drain');
  }

  /** As {@link NfpWorker.drain}, but aborts running tasks at once; resolves when they have ended. Also during a drain. */
  close(): Promise<void> {
    return this.#finish('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof NfpWorkerEvents>(name: Name, listener: (event: NfpWorkerEvents[Name]) => void): () => void {
    return this.#life.on(name, listener);
  }

  /** A copy of the current sizes and totals since construction. */
  stats(): NfpWorkerStats {
    return { ...this.#session.counters(), ...this.#totals.get() };
  }

  async #start(transport: Transport): Promise<void> {
    this.#transport = transport;
    await this.#store.open();
    this.#startedAt = transport.clock.now();
    const host = (this.#host = this.#newHost(transport));
    try {
      this.#life.assertOpen();
      if (this.#settings.store === undefined) this.#onNote({ code: 'volatile-store' });
      await host.start();
      this.#life.assertOpen();
    } catch (error) {
      await host.finish('close');
      throw error;
    }
  }

  async #finish(how: 'drain' | 'close'): Promise<void> {
    this.#life.end();
    // A start under way notices by itself, and leaves nothing open.
    await this.#life.settled();
    await this.#host?.finish(how);
  }

  #newHost(transport: Transport): NfpWorkerHost {
    return new NfpWorkerHost(
      {
        settings: this.#settings,
        session: this.#session,
        store: this.#store,
        tasks: this.#tasks,
        tracing: new Tracing('proj:worker.job', 'nfp', this.#settings.tracing),
        onNote: this.#onNote,
        onError: (error, uuid) => {
          this.#log('ERROR', errorText(error), uuid === undefined ? {} : { uuid });
          this.#life.fail(uuid === undefined ? { error } : { error, uuid });
        },
        onPutDropped: () => {
          this.#totals.putDropped();
        },
        onRefused: (refusal) => {
          this.#life.emit('refused', refusal);
        },
      },
      transport,
    );
  }

  /** Base tasks run once the host exists. */
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
      jobs: (filter) => jobRows(this.#session.jobs, filter),
      record: (kind, uuid) => this.#record(kind, uuid),
      deleteFetched: (pattern) => (this.#host as NfpWorkerHost).services.deleteFetched(pattern),
    };
  }

  /** A record of a job, parsed. Events of a job without a result are in memory. */
  async #record(kind: 'call' | 'result' | 'events', uuid: string): Promise<unknown> {
    const job = this.#session.jobs.get(uuid);
    const isInMemory = kind === 'events' && job?.isFinal === false;
    const record = isInMemory ? joinJson(job.log) : await this.#store.get(jobKeys[kind](uuid));
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
      this.#life.emit(code, event);
    }
    this.#life.emit('note', note);
  };

  /** Called only after the first event of the session, when the transport is loaded. */
  #loaded(): Transport {
    if (this.#transport === undefined) throw new Error('NfpWorker: not started');
    return this.#transport;
  }
}
