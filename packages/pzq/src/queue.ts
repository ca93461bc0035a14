/** PZQ server, the facade: sockets, store and engine of one durable queue. Rules: engine/engine.ts and docs/protocols/pzq.md. */
import { encodePzq } from '@proj/frames/pzq';
import { Access, Emitter, EngineHost, parseOptions, ProjError, ROUTER_PEER } from '@proj/transport';
import type { AccessRules, Guarded, HandshakeRefusal, RefusalCounts, Startable, Transport } from '@proj/transport';
import { serverCurve } from '@proj/transport/curve';
import type { ServerSnapshot } from '@proj/transport/engine';
import { loadTransport } from '@proj/zmtp';
import manifest from '../package.json' with { type: 'json' };
import { DeadLetterRequests, listDeadLetters } from './dead-letter-requests.js';
import type { PzqDeadLetter } from './dead-letter-requests.js';
import { PzqEngine } from './engine/engine.js';
import type {
  PzqCorruptNotice,
  PzqDeadLetterNotice,
  PzqEffect,
  PzqEvent,
  PzqNote,
  PzqRefusingNotice,
  PzqResumedNotice,
  PzqStats,
} from './engine/events.js';
import { pzqAccessOptions, pzqServerOptions } from './options.js';
import type { PzqServerOptions, PzqServerSettings } from './options.js';
import { SOCKETS, socketPlans } from './socket-plans.js';
import { callStore } from './store-calls.js';
import type { QueueStore } from './store/store.js';
import { storeOf } from './stores.js';

/** Events of a {@link PzqServer}. */
export interface PzqServerEvents {
  /** A note for the log; at most once a minute for the same peer and reason. */
  note: PzqNote;
  /** The store accepts no messages. Producers are rejected, everything else continues, until `resumed`. */
  refusing: PzqRefusingNotice;
  resumed: PzqResumedNotice;
  /** The store is damaged. Producers are rejected; nothing is delivered or written any more. */
  corrupt: PzqCorruptNotice;
  'dead-letter': PzqDeadLetterNotice;
  /** A peer was refused, or failed the handshake; at most once a minute for the same key or address. */
  refused: HandshakeRefusal;
  /** A socket failed permanently: it receives nothing more. Close this server and start another one. */
  broken: Error;
}

/** The bound endpoints of a {@link PzqServer}, with wildcard ports filled in. */
export interface PzqServerEndpoints {
  /** For producers. */
  readonly receive: string[];
  /** For consumers. */
  readonly send: string[];
  /** For requests to the monitor. */
  readonly monitor: string[];
  /** For consumers of dead letters; empty without `deadLetterSend`. */
  readonly deadLetterSend: string[];
}

interface Running {
  readonly epoch: bigint;
  readonly engine: PzqEngine;
  readonly host: EngineHost<PzqEvent, PzqEffect>;
}

/**
 * Stores what producers push, on disk before it acknowledges, and delivers it to consumers until one of them acknowledges it.
 *
 * ```ts
 * await using queue = new PzqServer({ store: 'lmdb:./orders' });
 * await queue.start();
 * ```
 */
export class PzqServer implements Startable<PzqServerEvents, PzqServerEndpoints>, Guarded {
  readonly #settings: PzqServerSettings;
  readonly #store: QueueStore;
  readonly #events = new Emitter<PzqServerEvents>();
  readonly #requests = new DeadLetterRequests((event) => this.#running?.host.dispatch(event));
  #access: Access | undefined;
  #running: Running | undefined;
  #starting: Promise<PzqServerEndpoints> | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PzqServerOptions = {}) {
    this.#settings = parseOptions('PzqServer', pzqServerOptions, options);
    this.#store = storeOf(this.#settings.store);
    this.#access = this.#settings.access && new Access(this.#settings.access);
  }

  /**
   * Opens the store, binds and serves; if that fails, the store is unchanged. Besides what {@link Startable} says, rejects with
   * `OPTIONS_INVALID` for a folder that cannot be created, read or written, `UNAVAILABLE` for a missing database driver, an unreachable database
   * or a store held by another process, and `CORRUPT` for a store that is damaged or of a newer version.
   */
  start(): Promise<PzqServerEndpoints> {
    return (this.#starting ??= this.#start());
  }

  /** Rejects producers, writes what has arrived, gives consumers `drainMs` to acknowledge, then closes. Idempotent. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  /** Stops at once. Unanswered messages may or may not be stored; messages of consumers return later. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PzqServerEvents>(event: Name, listener: (payload: PzqServerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Besides what {@link Guarded} says, throws `OPTIONS_INVALID` for rules that restrict consumers without option `curve`: rule 39. */
  setAccess(rules: AccessRules): void {
    const access = new Access(parseOptions('PzqServer', pzqAccessOptions, { access: rules }).access);
    this.#running?.host.setAccess(access);
    this.#access = access;
  }

  /** Current sizes and totals so far. Throws `CLOSED` before `start` has resolved. */
  stats(): PzqStats & RefusalCounts;
  /** The same plus the operator's view: figures of the queue, its consumers and producers, and of the store's commits. */
  stats(options: { readonly detail: true }): PzqStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): PzqStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    const { engine, host } = this.#started('stats');
    const { name } = this.#settings;
    return host.stats({ stats: () => engine.stats(), detail: (now) => engine.detail(name, now) }, options);
  }

  /** False for a store that does not outlive the process. */
  get durable(): boolean {
    return this.#store.durable;
  }

  /**
   * The dead letters in the order in which they were stored, read page by page; letters that come or go meanwhile may or may not be included.
   * Rejects with the store's error, or with `CLOSED` before the start.
   */
  async *deadLetters(): AsyncGenerator<PzqDeadLetter, void, undefined> {
    yield* listDeadLetters(this.#store, this.#started('deadLetters').epoch);
  }

  /**
   * Returns dead letters to the queue, to their old places, without counted deliveries and without an expiry. Resolves when that is on disk;
   * keys of other messages are ignored. Rejects with `OPTIONS_INVALID` for a text that is not a key of this queue, with `WRITE_FAILED`,
   * `CORRUPT` or `CLOSED`.
   */
  async returnDeadLetters(keys: Iterable<string>): Promise<void> {
    await this.#requests.revive(keys, this.#started('returnDeadLetters').epoch);
  }

  /** Removes dead letters permanently; otherwise as {@link PzqServer.returnDeadLetters}. */
  async removeDeadLetters(keys: Iterable<string>): Promise<void> {
    await this.#requests.discard(keys, this.#started('removeDeadLetters').epoch);
  }

  /** Delivers no messages of the queue until {@link PzqServer.resume}; producers are still served. Not stored. Throws `CLOSED` before the start. */
  pause(): void {
    this.#started('pause').host.dispatch({ kind: 'pause', isPaused: true });
  }

  /** Ends a pause. Throws `CLOSED` before the start. */
  resume(): void {
    this.#started('resume').host.dispatch({ kind: 'pause', isPaused: false });
  }

  /**
   * Permanently removes all ready messages; those that are delayed or with consumers stay. Resolves to their number once that is on disk.
   * Rejects with `WRITE_FAILED`, `CORRUPT` or `CLOSED`; some may then be removed.
   */
  async purge(): Promise<number> {
    this.#started('purge');
    return this.#requests.purge();
  }

  /**
   * Delivers nothing more to a consumer, which may still acknowledge what it has. `id` is its routing id as text or in hex. It gets messages
   * again when it reconnects. Returns how many there were. Throws `CLOSED` before the start.
   */
  drainConsumer(id: string): number {
    const { engine, host } = this.#started('drainConsumer');
    const count = engine.named(id);
    if (count > 0) host.dispatch({ kind: 'dismiss', consumer: id });
    return count;
  }

  async #start(): Promise<PzqServerEndpoints> {
    this.#assertOpen();
    const transport = await loadTransport(this.#settings.transport, this.#settings.curve);
    const opened = await this.#store.open();
    try {
      this.#assertOpen();
      const { name, leases } = this.#store;
      const { deadLetterSend: letters } = this.#settings;
      const settings = { ...this.#settings, deadLetterSend: letters !== undefined, version: manifest.version };
      const store = { ...opened, name, shared: leases !== undefined };
      const engine = new PzqEngine(settings, store, transport.entropy, transport.memory);
      const host = this.#hostFor(engine, transport);
      this.#running = { epoch: opened.epoch, engine, host };
      const [receive = [], monitor = [], send = [], deadLetterSend = []] = await host.start();
      this.#assertOpen();
      return { receive, send, monitor, deadLetterSend };
    } catch (error) {
      await this.#running?.host.close();
      this.#running = undefined;
      await this.#store.close();
      throw error;
    }
  }

  /** The field changes while `start` awaits. */
  #assertOpen(): void {
    if (this.#closing !== undefined) throw new ProjError('CLOSED', 'PzqServer: start after close');
  }

  #hostFor(engine: PzqEngine, transport: Transport): EngineHost<PzqEvent, PzqEffect> {
    const { name, curve } = this.#settings;
    const host: EngineHost<PzqEvent, PzqEffect> = new EngineHost<PzqEvent, PzqEffect>(
      {
        name: 'PzqServer',
        engine,
        sockets: socketPlans(this.#settings, (peer) => host.pendingFor(SOCKETS.receive, peer)),
        started: { kind: 'start' },
        onMemory: (isTight) => ({ kind: 'memory', isTight }),
        drain: { kind: 'drain' },
        ...serverCurve(curve),
        access: this.#access,
        onAccess: (access) => ({ kind: 'access', access, name }),
        perform: (effect) => {
          this.#perform(effect, host);
        },
        events: this.#events,
      },
      () => Promise.resolve(transport),
    );
    return host;
  }

  #perform(effect: PzqEffect, host: EngineHost<PzqEvent, PzqEffect>): void {
    switch (effect.kind) {
      case 'send-ack':
        host.send(SOCKETS.receive, effect.peer, encodePzq(effect.command));
        break;
      case 'deliver':
        host.send(SOCKETS[effect.outlet], ROUTER_PEER, encodePzq(effect.command));
        break;
      case 'hold':
        host.hold(SOCKETS[effect.outlet], effect.peer, effect.held);
        break;
      case 'monitor-reply':
        host.send(SOCKETS.monitor, effect.peer, encodePzq(effect.command));
        break;
      case 'commit':
      case 'load':
      case 'due':
      case 'probe':
      case 'take':
      case 'release':
      case 'extend':
        callStore(this.#store, effect, (event) => {
          host.dispatch(event);
        });
        break;
      case 'done':
        this.#requests.settle(effect.id, effect.code, effect.count);
        break;
      case 'refusing':
      case 'resumed':
      case 'corrupt':
      case 'dead-letter':
      case 'note':
        this.#events.emit(effect.kind, effect);
        break;
      case 'drained':
        host.drained();
        break;
    }
  }

  #started(what: string): Running {
    if (this.#running === undefined) throw new ProjError('CLOSED', `PzqServer: ${what} before start`);
    return this.#running;
  }

  async #drain(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    if (this.#closing === undefined) await this.#running?.host.drain();
    await this.close();
  }

  async #close(): Promise<void> {
    this.#requests.close();
    await this.#starting?.catch(() => undefined);
    await this.#running?.host.close();
    if (this.#running !== undefined) await this.#store.close();
  }
}
