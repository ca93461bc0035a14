/** EventMQ scheduler, the facade. Rules: engine/engine.ts and section 11 of docs/protocols/emqp.md. */
import { createHash } from 'node:crypto';
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtScheduler, encodeEmqp } from '@proj/frames/emqp';
import type { Clock } from '@proj/heartbeat';
import { Emitter, parseOptions, ProjError, SessionHost } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import type { ServerSnapshot } from '@proj/transport/engine';
import type { EventListener, HandshakeRefusal, PortOptions, RecordBatch, Startable, Transport } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';
import type {
  EmqpSchedulerStats,
  ScheduleChange,
  ScheduleRecord,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerNote,
} from './engine/events.js';
import { cronIn, isTimeZone } from './cron.js';
import { EmqpSchedulerEngine } from './engine/engine.js';
import { emqpSchedulerOptions } from './options.js';
import type { EmqpSchedulerOptions, EmqpSchedulerSettings } from './options.js';
import { decodeRecord, encodeRecord, KEY_PREFIX } from './records.js';

/** Events of an {@link EmqpScheduler}. */
export interface EmqpSchedulerEvents {
  /** A note for a log line or a counter. */
  note: SchedulerNote;
  /** A handshake with a broker failed; it will be retried. */
  refused: HandshakeRefusal;
  /** The scheduler has ended because of `drain`, `close` or a broker's DISCONNECT; the store is closed. */
  ended: undefined;
}

const MESSAGE_FRAMES = 64;
/** The third frame after the empty one: the id of the message. */
const ID_FRAME = 3;

/**
 * Runs jobs for EventMQ clients, at intervals or by cron: each run is a REQUEST to the job's queue. Jobs count once they are on disk, and
 * continue after a restart.
 *
 * ```ts
 * await using scheduler = new EmqpScheduler({ store: lmdbRecords({ folder: './schedules' }) });
 * await scheduler.start();
 * ```
 *
 * A crash may lose the run that was due, but never doubles one. A job that is due while no broker is connected runs once when one is.
 */
export class EmqpScheduler implements Startable<EmqpSchedulerEvents> {
  readonly #settings: EmqpSchedulerSettings;
  readonly #port: PortOptions;
  readonly #events = new Emitter<EmqpSchedulerEvents>();
  readonly #ended: Promise<void>;
  #onEnded: () => void = () => undefined;
  #starting: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  /** Number of failed handshakes with brokers. */
  readonly #refused = { key: 0, handshake: 0 };
  #clock: Clock | undefined;
  #engine: EmqpSchedulerEngine | undefined;
  #host: SessionHost<SchedulerEvent, SchedulerEffect> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpSchedulerOptions) {
    const settings = parseOptions('EmqpScheduler', emqpSchedulerOptions, options);
    const { timeZone, jobsMax, lingerMs, maxMessageBytes, curve } = settings;
    if (!isTimeZone(timeZone))
      throw new ProjError(
        'OPTIONS_INVALID',
        `EmqpScheduler: timeZone ${timeZone}: unknown on this machine; use a name such as Europe/Berlin or UTC`,
      );
    this.#settings = settings;
    // After a pause all jobs may be due at once. `jobsMax` limits the messages; the port limits the bytes.
    const queue = { peerQueueMax: jobsMax, queueMax: jobsMax };
    this.#port = { lingerMs, maxMessageFrames: MESSAGE_FRAMES, maxMessageBytes, ...queue, ...clientCurve(curve) };
    this.#ended = new Promise((resolve) => {
      this.#onEnded = resolve;
    });
  }

  /** Opens the store and connects; resolves whether or not a broker is reachable. Also rejects with the store's error, such as `CORRUPT`. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  /** Finishes pending writes within `drainMs`, says farewell, and closes everything, including the store. Idempotent. */
  drain(): Promise<void> {
    return this.#end('drain');
  }

  /** The same without waiting: a run whose write is pending is lost. Idempotent, even during a drain. */
  close(): Promise<void> {
    return this.#end('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof EmqpSchedulerEvents>(
    name: Name,
    listener: EventListener<EmqpSchedulerEvents, Name>,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Counters since construction and current gauges; `undefined` before `start` has opened the store. */
  stats(): EmqpSchedulerStats | undefined;
  /** The same plus the operator's view: figures of each type of job, the next and last run of at most 1000 jobs, and the broker. */
  stats(options: { readonly detail: true }): (EmqpSchedulerStats & { readonly detail: ServerSnapshot }) | undefined;
  stats(options?: { readonly detail: true }): (EmqpSchedulerStats & { readonly detail?: ServerSnapshot }) | undefined {
    const engine = this.#engine;
    if (engine === undefined || options === undefined) return engine?.stats;
    const detail = { ...engine.detail(this.#clock?.now() ?? 0), refused: { ...this.#refused } };
    return { ...engine.stats, detail };
  }

  async #start(): Promise<void> {
    if (this.#ending !== undefined) throw new ProjError('CLOSED', 'EmqpScheduler: start after close');
    const { store, timeZone } = this.#settings;
    const transport = await loadTransport(this.#settings.transport, this.#settings.curve);
    await store.open();
    try {
      const records = await this.#load();
      if (this.#isEnding()) throw new ProjError('CLOSED', 'EmqpScheduler: closed while it started');
      const tools = { sha1, nextCron: cronIn(timeZone) };
      this.#clock = transport.clock;
      this.#engine = new EmqpSchedulerEngine(this.#settings, tools, transport.entropy);
      this.#host = this.#hostOf(this.#engine, transport);
      this.#host.dispatch({ kind: 'start', records });
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** A method, because the field changes while `start` awaits. */
  #isEnding(): boolean {
    return this.#ending !== undefined;
  }

  async #load(): Promise<(readonly [string, ScheduleRecord])[]> {
    const records: (readonly [string, ScheduleRecord])[] = [];
    for await (const [key, value] of this.#settings.store.entries(KEY_PREFIX))
      records.push([key.slice(KEY_PREFIX.length), decodeRecord(key, value)]);
    return records;
  }

  #end(how: 'drain' | 'close'): Promise<void> {
    // A pending drain ends at once.
    if (this.#ending !== undefined && how === 'close') this.#host?.dispatch({ kind: how });
    return (this.#ending ??= this.#finish(how));
  }

  async #finish(how: 'drain' | 'close'): Promise<void> {
    await this.#starting?.catch(() => undefined);
    if (this.#host === undefined) return;
    this.#host.dispatch({ kind: how });
    await this.#ended;
  }

  readonly #perform = (effect: SchedulerEffect): void => {
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint, effect.identity);
        break;
      case 'send':
        this.#host?.send(effect.socket, encodeEmqp(effect.command));
        break;
      case 'close':
        this.#host?.closeSocket(effect.socket, effect.flush);
        break;
      case 'store':
        this.#store(effect.write, effect.changes);
        break;
      case 'note':
        this.#events.emit('note', effect.note);
        break;
      case 'ended':
        void this.#over();
        break;
    }
  };

  #open(socket: number, endpoint: string, identity: string): void {
    // In ASCII: an id generated by ZeroMQ crashes EventMQ's router.
    this.#host?.open(socket, { endpoints: [endpoint], port: { ...this.#port, routingId: fromLatin1(identity) } });
  }

  #hostOf(engine: EmqpSchedulerEngine, transport: Transport): SessionHost<SchedulerEvent, SchedulerEffect> {
    return new SessionHost<SchedulerEvent, SchedulerEffect>(
      {
        engine,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, command: decodeEmqpAtScheduler(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onSent: (_socket, frames) => ({ kind: 'sent', id: idOf(frames) }),
        onUndeliverable: (_socket, frames) => ({ kind: 'unsent', id: idOf(frames) }),
        onLost: (socket, reason) => ({ kind: 'lost', socket, reason }),
        onRefused: (refusal) => {
          this.#refused[refusal.reason]++;
          this.#events.emit('refused', refusal);
        },
      },
      transport,
    );
  }

  #store(write: number, changes: readonly ScheduleChange[]): void {
    const stored = (error: string | undefined): void => {
      this.#host?.dispatch({ kind: 'stored', write, error });
    };
    this.#settings.store.commit(toBatch(changes)).then(
      () => stored(undefined),
      (error: unknown) => stored(error instanceof Error ? error.message : String(error)),
    );
  }

  async #over(): Promise<void> {
    this.#host?.ended();
    try {
      await this.#host?.over();
      await this.#settings.store.close();
    } finally {
      this.#onEnded();
      this.#events.emit('ended', undefined);
    }
  }
}

function toBatch(changes: readonly ScheduleChange[]): RecordBatch {
  const puts: [string, Uint8Array][] = [];
  const removes: string[] = [];
  for (const { identity, record } of changes) {
    if (record === undefined) removes.push(KEY_PREFIX + identity);
    else puts.push([KEY_PREFIX + identity, encodeRecord(record)]);
  }
  return { puts, removes };
}

function sha1(text: string): string {
  return createHash('sha1').update(text, 'latin1').digest('hex');
}

function idOf(frames: readonly Uint8Array[]): string {
  return latin1(frames[ID_FRAME] ?? new Uint8Array(0));
}
