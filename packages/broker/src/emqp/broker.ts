/** EventMQ broker, the facade: eMQP/1.0 on three ROUTERs. Rules: engine.ts and docs/protocols/emqp.md. */
import {
  decodeEmqpAtAdminPort,
  decodeEmqpAtBroker,
  decodeEmqpAtScheduler,
  decodeEmqpAtWorker,
  encodeEmqp,
} from '@proj/frames/emqp';
import { Emitter, parseOptions, ProjError } from '@proj/transport';
import type {
  AccessRules,
  EngineHost,
  Entropy,
  EventListener,
  Guarded,
  HostEvents,
  PortOptions,
  RecordStore,
  RefusalCounts,
  SocketPlan,
  Startable,
  Transport,
} from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import { loadTransport } from '@proj/zmtp';
import { compileAccess, hostOf } from '../host.js';
import { CONNECTIONS } from '../shared/connections.js';
import type {
  EmqpBrokerEffect,
  EmqpBrokerEvent,
  EmqpBrokerNote,
  EmqpFromBroker,
  EmqpPeerJoinedNotice,
  EmqpPeerLeftNotice,
  EmqpPort,
  EmqpStoreEffect,
  EmqpWorkerChoice,
} from './engine/events.js';
import { EmqpBrokerEngine } from './engine/engine.js';
import { emqpBrokerOptions } from './options.js';
import type { EmqpBrokerOptions, EmqpBrokerSettings, EmqpPublisher } from './options.js';
import { bodyKey, readRecord, RECORDS_PREFIX } from './engine/guarantee/records.js';
import type { EmqpKeptJob } from './engine/guarantee/records.js';
import type { EmqpBrokerStats } from './engine/state.js';

/** Events of an {@link EmqpBroker}. */
export interface EmqpBrokerEvents extends HostEvents {
  'peer-joined': EmqpPeerJoinedNotice;
  'peer-left': EmqpPeerLeftNotice;
  /** A note for the log; at most once a minute for the same peer. */
  note: EmqpBrokerNote;
  /** The broker has stopped, because of an admin or `drain`, and closes. */
  drained: undefined;
}

/** The bound endpoints of an {@link EmqpBroker}, with port `*` filled in. */
export interface EmqpBrokerEndpoints {
  /** For clients and schedulers. */
  readonly frontend: string[];
  /** For workers. */
  readonly backend: string[];
  /** For consoles. */
  readonly admin: string[];
}

/** Numbers of the sockets. */
const SOCKETS = { frontend: 0, backend: 1, admin: 2 } as const;

/**
 * Gives jobs from clients and schedulers to the workers of named queues, as EventMQ's router does, and keeps the promises that EventMQ only
 * makes.
 *
 * ```ts
 * await using broker = new EmqpBroker({ frontend: 'tcp://127.0.0.1:47291', backend: 'tcp://127.0.0.1:47290' });
 * await broker.start();
 * ```
 */
export class EmqpBroker implements Startable<EmqpBrokerEvents, EmqpBrokerEndpoints>, Guarded {
  readonly #engine: EmqpBrokerEngine;
  readonly #host: EngineHost<EmqpBrokerEvent, EmqpBrokerEffect>;
  readonly #events = new Emitter<EmqpBrokerEvents>();
  readonly #pubSub: EmqpPublisher | undefined;
  #transport: Transport | undefined;
  #starting: Promise<EmqpBrokerEndpoints> | undefined;
  #closing: Promise<void> | undefined;
  readonly #store: RecordStore | undefined;
  /** Jobs found in the store, until the engine gets them. */
  readonly #kept: EmqpKeptJob[] = [];

  /** Validates the options. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpBrokerOptions = {}) {
    const settings = parseOptions('EmqpBroker', emqpBrokerOptions, options);
    this.#pubSub = settings.pubSub;
    this.#store = settings.store;
    this.#engine = new EmqpBrokerEngine(settings, this.#entropy(), () => this.#transport?.memory?.stats());
    this.#host = hostOf<EmqpBrokerEvent, EmqpBrokerEffect>(
      settings,
      this.#events,
      {
        name: 'EmqpBroker',
        engine: this.#engine,
        sockets: [peersPlan('frontend', settings), peersPlan('backend', settings), adminPlan(settings)],
        started: { kind: 'restore', jobs: this.#kept },
        onMemory: (isTight) => ({ kind: 'memory', isTight }),
        perform: this.#perform,
      },
      async () => (this.#transport = await loadTransport(settings.transport, settings.curve)),
    );
  }

  /** Also rejects with the store's error, and leaves the store closed. */
  start(): Promise<EmqpBrokerEndpoints> {
    return (this.#starting ??= this.#start());
  }

  /**
   * Says farewell to a job manager or scheduler at once; results of jobs it still has are forwarded. `id` is its routing id as text or in hex.
   * It may register again. Returns how many there were.
   */
  disconnectWorker(id: string): number {
    return this.#dismiss({ worker: id }, false);
  }

  /** As {@link EmqpBroker.disconnectWorker}, once its jobs have ended; it gets no others. */
  drainWorker(id: string): number {
    return this.#dismiss({ worker: id }, true);
  }

  /** As {@link EmqpBroker.drainWorker}, for all job managers of a queue. */
  drainQueue(name: string): number {
    return this.#dismiss({ queue: name }, true);
  }

  /**
   * Jobs of this queue wait until {@link EmqpBroker.resumeQueue}, even beyond `requestTtlMs`; new ones are accepted. Returns how many there are:
   * 1 or 0.
   */
  pauseQueue(name: string): number {
    return this.#pause(name, true);
  }

  /** Ends a pause. */
  resumeQueue(name: string): number {
    return this.#pause(name, false);
  }

  /**
   * Gives up the waiting jobs of this queue; clients that asked for results are informed. Returns how many there were; `undefined` if there is
   * no such queue.
   */
  purgeQueue(name: string): number | undefined {
    const count = this.#engine.waitingIn(name);
    if (count !== undefined) this.#host.dispatch({ kind: 'purge', queue: name });
    return count;
  }

  /** Running jobs may finish for `drainMs`; then workers and schedulers get farewells. Unfinished guaranteed jobs stay in the store. */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof EmqpBrokerEvents>(event: Name, listener: EventListener<EmqpBrokerEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('EmqpBroker', rules));
  }

  /** Current sizes and totals so far; the cost is linear in the number of queues and registered peers. */
  stats(): EmqpBrokerStats & RefusalCounts;
  /** The same plus the operator's view: figures of each queue, worker and client, at a cost linear in these and in running jobs. */
  stats(options: { readonly detail: true }): EmqpBrokerStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): EmqpBrokerStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  #dismiss(choice: EmqpWorkerChoice, isGraceful: boolean): number {
    const { length } = this.#engine.chosen(choice);
    if (length > 0) this.#host.dispatch({ kind: 'dismiss', ...choice, isGraceful });
    return length;
  }

  #pause(queue: string, isPaused: boolean): number {
    if (this.#engine.waitingIn(queue) === undefined) return 0;
    this.#host.dispatch({ kind: 'pause', queue, isPaused });
    return 1;
  }

  async #start(): Promise<EmqpBrokerEndpoints> {
    try {
      await this.#load();
      const [frontend = [], backend = [], admin = []] = await this.#host.start();
      return { frontend, backend, admin };
    } catch (error) {
      await this.#store?.close();
      throw error;
    } finally {
      this.#kept.length = 0;
    }
  }

  /** Rule 35. */
  async #load(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    await store.open();
    let head: readonly [key: string, value: Uint8Array] | undefined;
    for await (const [key, value] of store.entries(RECORDS_PREFIX)) {
      const job = head !== undefined && key === bodyKey(head[0]) ? readRecord(...head, value) : undefined;
      if (job !== undefined) this.#kept.push(job);
      if ((head === undefined) !== (job === undefined)) throw corrupt(key);
      head = head === undefined ? [key, value] : undefined;
    }
    if (head !== undefined) throw corrupt(head[0]);
  }

  async #write({ write, puts, removes }: EmqpStoreEffect): Promise<void> {
    const error = await this.#store?.commit({ puts, removes }).then(
      () => undefined,
      (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
    );
    this.#host.dispatch({ kind: 'stored', write, error });
  }

  async #close(): Promise<void> {
    await this.#host.close();
    await this.#starting?.catch(() => undefined);
    await this.#store?.close();
  }

  /** The transport's entropy; the transport is loaded before the engine's first step. */
  #entropy(): Entropy {
    const world = () => (this.#transport as Transport).entropy;
    return { uuid: () => world().uuid(), wallMicros: () => world().wallMicros(), random: () => world().random() };
  }

  readonly #perform = (effect: EmqpBrokerEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(SOCKETS[effect.port], effect.peer, encodeEmqp(effect.command));
        break;
      case 'drained':
        this.#host.drained();
        // If an admin asked for it, nobody else closes.
        void this.close();
        this.#events.emit('drained', undefined);
        break;
      case 'note':
      case 'peer-joined':
      case 'peer-left':
        this.#events.emit(effect.kind, effect);
        break;
      case 'store':
        void this.#write(effect);
        break;
      case 'publish':
        this.#pubSub?.publish(effect.topic, effect.body);
        break;
    }
  };
}

function corrupt(key: string): ProjError {
  return new ProjError(
    'CORRUPT',
    `EmqpBroker: record ${key} of the store is not a job of this version: use the version that wrote it, or restore the store from a backup`,
  );
}

function peersPlan(port: EmqpPort, settings: EmqpBrokerSettings): SocketPlan<EmqpBrokerEvent> {
  return {
    kind: 'router',
    bind: [settings[port]].flat(),
    port: portOptions(settings),
    onMessage: (peer, frames) => ({ kind: 'message', port, peer, command: decodeEmqpAtBroker(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', port, peer }),
    onUndeliverable: (peer, frames, reason) => {
      const command = decodeOwn(frames);
      return command === undefined ? undefined : { kind: 'undeliverable', port, peer, command, reason };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', port, peer, reason }),
  };
}

function adminPlan(settings: EmqpBrokerSettings): SocketPlan<EmqpBrokerEvent> {
  return {
    kind: 'router',
    bind: [settings.admin].flat(),
    port: portOptions(settings),
    onMessage: (peer, frames) => ({ kind: 'admin', peer, command: decodeEmqpAtAdminPort(frames) }),
    onRejected: (peer, reason) => ({ kind: 'rejected', port: 'admin', peer, reason }),
  };
}

function portOptions({ maxMessageFrames, maxMessageBytes, lingerMs }: EmqpBrokerSettings): PortOptions {
  return { maxMessageFrames, maxMessageBytes, lingerMs, ...CONNECTIONS };
}

/** Decodes one of our commands that was not delivered. Decoding again costs nothing in normal operation; remembering every message would. */
function decodeOwn(frames: readonly Uint8Array[]): EmqpFromBroker | undefined {
  for (const decode of [decodeEmqpAtWorker, decodeEmqpAtScheduler]) {
    const command = decode(frames);
    // This broker never sends DISCONNECT.
    if (command.kind !== 'malformed' && command.kind !== 'disconnect') return command;
  }
  return undefined;
}
