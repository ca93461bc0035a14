/** EventMQ job manager, the facade: section 10 of docs/protocols/emqp.md. Decisions: engine/session.ts. Processes: job-pool.ts. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromLatin1 } from '@proj/frames';
import { decodeEmqpAtBroker, decodeEmqpAtWorker, encodeEmqp } from '@proj/frames/emqp';
import { parseOptions, SessionHost } from '@proj/transport';
import type { EventListener, HandshakeRefusal, Startable, Transport } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { WorkerLife } from '../worker-life.js';
import type {
  EmqpJobManagerEffect,
  EmqpJobManagerEvent,
  EmqpJobManagerNote,
  EmqpJobManagerStats,
  EmqpLossReason,
} from './engine/events.js';
import { EmqpJobManagerSession } from './engine/session.js';
import { jobHosts } from './job-host.js';
import { JobPool } from './job-pool.js';
import { JobTraces } from './job-traces.js';
import { emqpJobManagerOptions } from './options.js';
import type { EmqpJobManagerOptions, EmqpJobManagerSettings } from './options.js';

/** Events of an {@link EmqpJobManager}. */
export interface EmqpJobManagerEvents {
  /** A broker has accepted us. */
  registered: { readonly endpoint: string };
  /** A conversation was lost; the next one begins in `retryInMs`. */
  lost: { readonly endpoint: string; readonly reason: EmqpLossReason; readonly retryInMs: number };
  /** A note for a log line or a counter, including the above. */
  note: EmqpJobManagerNote;
  /** A handshake with a broker failed, because of its key or ours; it will be retried. */
  refused: HandshakeRefusal;
  /** A socket or a process could not be started, or failed. The job manager continues. Without a listener: standard error, once a minute. */
  error: { readonly error: unknown };
  /** It has ended after `drain` or `close`, or because the broker said DISCONNECT. */
  ended: { readonly stats: EmqpJobManagerStats };
}

/** Limit of the bytes of a REPLY besides the result. */
const BYTES_BESIDE_RESULT = 1024;

/** The parts that a start creates. */
interface Running {
  readonly session: EmqpJobManagerSession;
  readonly host: SessionHost<EmqpJobManagerEvent, EmqpJobManagerEffect>;
  readonly pool: JobPool;
}

/**
 * Runs the jobs of EventMQ queues, each in its own process: `concurrency` at a time, killed when they run too long, repeated as often as the
 * client wants.
 *
 * ```ts
 * await using manager = new EmqpJobManager({ handlers: './jobs.mjs' });
 * await manager.start();
 * ```
 *
 * with, in `jobs.mjs`, `export default { 'myjobs.add': (a, b) => a + b }`. A job with `guarantee` may run more than once, here or elsewhere:
 * make it idempotent.
 */
export class EmqpJobManager implements Startable<EmqpJobManagerEvents> {
  readonly #settings: EmqpJobManagerSettings;
  readonly #life = new WorkerLife<EmqpJobManagerEvents>('EmqpJobManager');
  readonly #traces: JobTraces;
  #finishing: Promise<void> | undefined;
  #running: Running | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpJobManagerOptions) {
    this.#settings = parseOptions('EmqpJobManager', emqpJobManagerOptions, options);
    this.#traces = new JobTraces(this.#settings.tracing);
  }

  /**
   * Also starts the processes; resolves when the first one is up, whether or not a broker is there. Rejects with `OPTIONS_INVALID` if `handlers`
   * does not load or `directory` does not exist.
   */
  start(): Promise<void> {
    return this.#life.start(this.#settings.transport, this.#settings.curve, (transport) => this.#start(transport));
  }

  /** Says farewell, lets current jobs finish for `killGraceMs`, answers them and closes. Resolves when no process is left. */
  drain(): Promise<void> {
    return this.#finish('drain');
  }

  /** Says farewell, kills running jobs and closes. Resolves when no process is left. Also during a drain. */
  close(): Promise<void> {
    return this.#finish('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof EmqpJobManagerEvents>(
    name: Name,
    listener: EventListener<EmqpJobManagerEvents, Name>,
  ): () => void {
    return this.#life.on(name, listener);
  }

  /** A copy of the counters since `start` and current gauges; `undefined` before that. */
  stats(): EmqpJobManagerStats | undefined {
    return this.#running?.session.stats;
  }

  /** Ids of the current processes; with `pool: 'threads'`, of the threads. */
  get processIds(): readonly number[] {
    return this.#running?.pool.ids ?? [];
  }

  async #start(transport: Transport): Promise<void> {
    const { host, pool } = (this.#running = this.#assemble(transport));
    try {
      await pool.start();
      this.#life.assertOpen();
      host.start({ kind: 'start' });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #assemble(transport: Transport): Running {
    const { queues, concurrency, pool: hosts, handlers, directory, maxMessageBytes, ...rest } = this.#settings;
    const resultMaxBytes = maxMessageBytes - BYTES_BESIDE_RESULT;
    const session = new EmqpJobManagerSession(
      { ...rest, concurrency, queues: queues.map(([weight, name]) => ({ weight, name })), resultMaxBytes },
      transport.entropy,
    );
    const host = this.#hostOf(session, transport);
    const sources = { handlers: absolute(handlers), directory: absolute(directory), resultMaxBytes };
    const random = (): number => transport.entropy.random();
    const startHost = typeof hosts === 'string' ? jobHosts(hosts) : hosts;
    const pool = new JobPool({ concurrency, startHost, ...sources }, transport.clock, random, {
      onEvent: (event) => {
        this.#traces.onEvent(event);
        host.dispatch(event);
      },
      onError: this.#onError,
    });
    return { session, host, pool };
  }

  #finish(how: 'drain' | 'close'): Promise<void> {
    this.#life.end();
    // Also while it is finishing: `close` speeds up a drain.
    this.#running?.host.dispatch({ kind: how });
    return (this.#finishing ??= this.#wind());
  }

  async #wind(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    await running.host.done;
    await running.pool.close();
    await running.host.over();
  }

  readonly #perform = (effect: EmqpJobManagerEffect): void => {
    const { pool, host, session } = this.#running as Running;
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint, effect.identity);
        break;
      case 'send':
        host.send(effect.socket, encodeEmqp(effect.command));
        break;
      case 'close':
        host.closeSocket(effect.socket, effect.flush);
        break;
      case 'run':
        pool.run(effect.slot, this.#traces.begin(effect), effect.wantsResult);
        break;
      case 'kill':
        this.#traces.killed(effect.slot);
        pool.kill(effect.slot);
        break;
      case 'recycle':
        pool.recycle(effect.slot);
        break;
      case 'note':
        this.#onNote(effect.note);
        break;
      case 'ended':
        host.ended();
        // After DISCONNECT, `drain` may not have been called.
        void (this.#finishing ??= this.#wind()).then(() => {
          this.#life.emit('ended', { stats: session.stats });
        });
        break;
    }
  };

  #onNote(note: EmqpJobManagerNote): void {
    if (note.code === 'registered') this.#life.emit('registered', { endpoint: note.endpoint });
    else if (note.code === 'lost') {
      const { code: _code, ...lost } = note;
      this.#life.emit('lost', lost);
    }
    this.#life.emit('note', note);
  }

  #open(socket: number, endpoint: string, identity: string): void {
    const { maxMessageFrames, maxMessageBytes, curve } = this.#settings;
    const port = { maxMessageFrames, maxMessageBytes, ...clientCurve(curve), routingId: fromLatin1(identity) };
    this.#running?.host.open(socket, { endpoints: [endpoint], port });
  }

  readonly #onError = (error: unknown): void => {
    this.#life.fail({ error });
  };

  #hostOf(
    session: EmqpJobManagerSession,
    transport: Transport,
  ): SessionHost<EmqpJobManagerEvent, EmqpJobManagerEffect> {
    return new SessionHost<EmqpJobManagerEvent, EmqpJobManagerEffect>(
      {
        engine: session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, command: decodeEmqpAtWorker(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket, reason) => ({ kind: 'lost', socket, reason }),
        onUndeliverable: (socket, frames) => {
          const command = decodeEmqpAtBroker(frames);
          if (command.kind === 'result') return { kind: 'unsent', socket, reply: command };
          return { kind: 'lost', socket, reason: 'undeliverable' };
        },
        onRefused: (refusal) => {
          this.#life.emit('refused', refusal);
        },
        onError: this.#onError,
      },
      transport,
    );
  }
}

function absolute(path: string | URL | undefined): string | undefined {
  if (path === undefined) return undefined;
  return typeof path === 'string' ? resolve(path) : fileURLToPath(path);
}
