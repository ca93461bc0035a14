/** PZQ server, the facade: sockets, store and engine of one durable queue. Rules: engine.ts and docs/protocols/pzq.md. */
import { decodePzqKey, encodePzq, encodePzqKey } from '@proj/frames/pzq';
import {
  Access,
  Emitter,
  EngineHost,
  isProjError,
  parseOptions,
  ProjError,
  ROUTER_PEER,
  toBuffers,
} from '@proj/transport';
import type { AccessRules, HandshakeRefusal, RefusalCounts, Transport } from '@proj/transport';
import { serverCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import manifest from '../package.json' with { type: 'json' };
import type {
  PzqCorruptNotice,
  PzqDeadLetterNotice,
  PzqEffect,
  PzqEvent,
  PzqNote,
  PzqOutletName,
  PzqRefusingNotice,
  PzqResumedNotice,
  PzqStoreFailure,
} from './engine/events.js';
import { PzqEngine } from './engine/engine.js';
import { pzqAccessOptions, pzqServerOptions } from './options.js';
import type { PzqServerOptions, PzqServerSettings } from './options.js';
import { monitorPlan, receivePlan, sendPlan } from './socket-plans.js';
import type { PzqStats } from './engine/stats.js';
import type { DeadMessage, DeathReason, QueueStore, Removal } from './store/store.js';
import { storeOf } from './stores.js';

/** Events of a {@link PzqServer}. */
export interface PzqServerEvents {
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: PzqNote;
  /** The store takes no messages: producers are refused, everything else goes on, until `resumed`. */
  refusing: PzqRefusingNotice;
  resumed: PzqResumedNotice;
  /** The store is damaged: producers are refused, nothing is delivered any more, and nothing written. */
  corrupt: PzqCorruptNotice;
  'dead-letter': PzqDeadLetterNotice;
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** A socket failed for good: nothing more is received there. Close this server and start another. */
  broken: Error;
}

/** Where a {@link PzqServer} is bound, wildcard ports filled in. */
export interface PzqServerEndpoints {
  /** For producers. */
  readonly receive: string[];
  /** For consumers. */
  readonly send: string[];
  /** For whoever asks how the queue is. */
  readonly monitor: string[];
  /** For consumers of dead letters; empty without `deadLetterSend`. */
  readonly deadLetterSend: string[];
}

/** A message that was given up. */
export interface PzqDeadLetter {
  /** The queue's name for it, as its consumers have seen it: 53 characters. */
  readonly key: string;
  readonly reason: DeathReason;
  /** How often it was delivered. */
  readonly deliveries: number;
  /** Microseconds since 1970, as below. */
  readonly storedMicros: number;
  readonly diedMicros: number;
  readonly body: readonly Buffer[];
}

/** Places of the sockets in the host's program. */
const SOCKETS = { receive: 0, monitor: 1, queue: 2, 'dead-letters': 3 } as const satisfies Record<string, number>;

/** Dead letters are read, and asked for, so many at a time. */
const PAGE_MAX = 100;
const PAGE_BYTES = 8 * 2 ** 20;

interface Running {
  readonly store: QueueStore;
  readonly epoch: bigint;
  readonly engine: PzqEngine;
  readonly host: EngineHost<PzqEvent, PzqEffect>;
}

/** Whoever waits for a request to be durable. */
interface Request {
  readonly resolve: () => void;
  readonly reject: (error: ProjError) => void;
}

/**
 * Keeps what producers push, on disk before it says so, and gives it to consumers until one of them acknowledges it.
 *
 * ```ts
 * await using queue = new PzqServer({ store: 'lmdb:./orders' });
 * await queue.start();
 * ```
 */
export class PzqServer {
  readonly #settings: PzqServerSettings;
  readonly #store: QueueStore;
  readonly #events = new Emitter<PzqServerEvents>();
  readonly #requests = new Map<number, Request>();
  #lastId = 0;
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
   * Opens the store, binds and serves. Resolves to the bound endpoints. Rejects with `ADDRESS_IN_USE`, `OPTIONS_INVALID` (an
   * endpoint nobody can bind, a folder that cannot be made, read or written to), `UNAVAILABLE` (no ZeroMQ or no database driver on
   * this machine, a database that is away, a store that another process has), `CORRUPT` (a store that is damaged or of a newer
   * version) or `CLOSED`; then nothing is left bound or open, and the store is as it was.
   */
  start(): Promise<PzqServerEndpoints> {
    return (this.#starting ??= this.#start());
  }

  /**
   * Comes to an end in order: producers are refused, what they were not answered yet is written, consumers may acknowledge
   * for `drainMs`, then `close`. Idempotent.
   */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  /** Stops at once: what producers were not answered may be stored or not, what consumers have comes back later. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** As {@link PzqServer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof PzqServerEvents>(event: Name, listener: (payload: PzqServerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for who is connected: rule 39. Throws `OPTIONS_INVALID`, and the old ones stay, for
   * what are no rules, for rules about keys on a transport that does not tell keys, and for consumers that nothing could keep out.
   */
  setAccess(rules: AccessRules): void {
    const access = new Access(parseOptions('PzqServer', pzqAccessOptions, { access: rules }).access);
    this.#running?.host.setAccess(access);
    this.#access = access;
  }

  /** Sizes now and totals so far. Throws `CLOSED` before `start` has resolved. */
  stats(): PzqStats & RefusalCounts {
    const { engine, host } = this.#started('stats');
    return { ...engine.stats(), ...host.refusals };
  }

  /** False for a store that does not outlive the process. */
  get durable(): boolean {
    return this.#store.durable;
  }

  /**
   * The dead letters, in the order in which they were stored, read from the store a page at a time; those that come or go
   * meanwhile may be among them or not. Rejects with the store's error, or with `CLOSED` before the start.
   */
  async *deadLetters(): AsyncGenerator<PzqDeadLetter, void, undefined> {
    const { store, epoch } = this.#started('deadLetters');
    let after = 0;
    for (;;) {
      const page = await store.dead(after, PAGE_MAX, PAGE_BYTES);
      for (const letter of page) yield toDeadLetter(letter, epoch);
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }

  /**
   * Puts dead letters back into the queue, in their old places, with no deliveries counted and no time to live. Resolves when
   * that is on disk; keys of messages that are not among the dead letters mean nothing. Rejects with `OPTIONS_INVALID` for
   * what is no key of this queue, `WRITE_FAILED`, or `CLOSED`.
   */
  async returnDeadLetters(keys: Iterable<string>): Promise<void> {
    for (const letters of this.#pages(keys, 'returnDeadLetters'))
      await this.#request((id) => ({ kind: 'revive', id, seqs: letters.map(({ seq }) => seq) }));
  }

  /** Removes dead letters for good; otherwise as {@link PzqServer.returnDeadLetters}. */
  async removeDeadLetters(keys: Iterable<string>): Promise<void> {
    for (const letters of this.#pages(keys, 'removeDeadLetters'))
      await this.#request((id) => ({ kind: 'discard', id, letters }));
  }

  async #start(): Promise<PzqServerEndpoints> {
    this.#assertOpen();
    const transport = await loadTransport(this.#settings.transport);
    const opened = await this.#store.open();
    try {
      this.#assertOpen();
      const store = { ...opened, name: this.#store.name, shared: this.#store.leases !== undefined };
      const engine = new PzqEngine(engineSettings(this.#settings), store, transport.entropy, transport.memory);
      const host = this.#hostFor(engine, transport);
      this.#running = { store: this.#store, epoch: opened.epoch, engine, host };
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
    const { send, monitor, deadLetterSend, name } = this.#settings;
    const host: EngineHost<PzqEvent, PzqEffect> = new EngineHost<PzqEvent, PzqEffect>(
      {
        name: 'PzqServer',
        engine,
        sockets: [
          receivePlan(this.#settings, (peer) => host.pendingFor(SOCKETS.receive, peer)),
          monitorPlan(monitor),
          sendPlan('queue', send, name),
          ...(deadLetterSend === undefined ? [] : [sendPlan('dead-letters', deadLetterSend, name)]),
        ],
        started: { kind: 'start' },
        onMemory: (isTight) => ({ kind: 'memory', isTight }),
        drain: { kind: 'drain' },
        ...serverCurve(this.#settings.curve),
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
    const store = this.#store;
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
        tell(host, () => store.commit(effect.batch), committed, commitFailed);
        break;
      case 'load':
        this.#load(effect, host);
        break;
      case 'due':
        tell(host, () => store.due(effect.nowMicros, effect.limit), due, dueFailed);
        break;
      case 'probe':
        tell(host, () => store.probe(), probed, probeFailed);
        break;
      case 'take':
        tell(host, () => leasesOf(store).take(effect.limit, effect.maxBytes, effect.leaseMs), taken, takeFailed);
        break;
      case 'release':
        attempt(() => leasesOf(store).release(effect.seqs, effect.delayMs));
        break;
      case 'extend':
        attempt(() => leasesOf(store).extend(effect.seqs, effect.leaseMs));
        break;
      case 'done':
        this.#settle(effect.id, effect.code);
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

  #load(
    { outlet, after, limit, maxBytes }: Extract<PzqEffect, { kind: 'load' }>,
    host: EngineHost<PzqEvent, PzqEffect>,
  ): void {
    const read = READERS[outlet];
    tell(
      host,
      () => this.#store[read](after, limit, maxBytes),
      (messages) => ({ kind: 'loaded', outlet, messages }),
      (failure) => ({ kind: 'load-failed', outlet, ...failure }),
    );
  }

  #started(what: string): Running {
    if (this.#running === undefined) throw new ProjError('CLOSED', `PzqServer: ${what} before start`);
    return this.#running;
  }

  /** Keys as the engine names messages, some at a time; all are looked at before the first is acted upon. */
  #pages(keys: Iterable<string>, what: string): readonly (readonly Removal[])[] {
    const { epoch } = this.#started(what);
    const letters = Array.from(keys, (text) => {
      const key = decodePzqKey(Buffer.from(text, 'latin1'));
      if (key?.epoch !== epoch)
        throw new ProjError('OPTIONS_INVALID', `${what}: ${JSON.stringify(text)} is no key of this queue`);
      return key;
    });
    const pages: Removal[][] = [];
    for (let from = 0; from < letters.length; from += PAGE_MAX)
      pages.push(letters.slice(from, from + PAGE_MAX).map(({ seq, storedMicros }) => ({ seq, storedMicros })));
    return pages;
  }

  #request(event: (id: number) => PzqEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) {
        reject(closed());
        return;
      }
      const id = ++this.#lastId;
      this.#requests.set(id, { resolve, reject });
      this.#running?.host.dispatch(event(id));
    });
  }

  #settle(id: number, code: string | undefined): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    if (code === undefined) request?.resolve();
    else if (code === 'CLOSED') request?.reject(closed());
    else if (code === 'CORRUPT') request?.reject(new ProjError('CORRUPT', 'the store is damaged: nothing was changed'));
    else
      request?.reject(new ProjError('WRITE_FAILED', `the store cannot be written to: ${code}`, { details: { code } }));
  }

  async #drain(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    if (this.#closing === undefined) await this.#running?.host.drain();
    await this.close();
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    await this.#running?.host.close();
    for (const id of this.#requests.keys()) this.#settle(id, 'CLOSED');
    if (this.#running !== undefined) await this.#store.close();
  }
}

const READERS = { queue: 'scan', 'dead-letters': 'dead' } as const satisfies Record<PzqOutletName, keyof QueueStore>;

const committed = (result: Awaited<ReturnType<QueueStore['commit']>>): PzqEvent => ({ kind: 'committed', result });
const commitFailed = (failure: PzqStoreFailure): PzqEvent => ({ kind: 'commit-failed', ...failure });
const due = (messages: Awaited<ReturnType<QueueStore['due']>>): PzqEvent => ({ kind: 'due', messages });
const dueFailed = (failure: PzqStoreFailure): PzqEvent => ({ kind: 'due-failed', ...failure });
const taken = (messages: Awaited<ReturnType<QueueStore['scan']>>): PzqEvent => ({ kind: 'taken', messages });
const takeFailed = (failure: PzqStoreFailure): PzqEvent => ({ kind: 'take-failed', ...failure });
const probed = (): PzqEvent => ({ kind: 'probed' });
const probeFailed = (failure: PzqStoreFailure): PzqEvent => ({ kind: 'probe-failed', ...failure });

/** Asks the store, and tells the engine what came of it; also of a store that throws where it should reject. */
function tell<Value>(
  host: EngineHost<PzqEvent, PzqEffect>,
  ask: () => Promise<Value>,
  answered: (value: Value) => PzqEvent,
  failed: (failure: PzqStoreFailure) => PzqEvent,
): void {
  const answer = async () => ask();
  void answer().then(
    (value) => {
      host.dispatch(answered(value));
    },
    (error: unknown) => {
      host.dispatch(failed({ code: codeOf(error), what: error instanceof Error ? error.message : String(error) }));
    },
  );
}

/** A lease that is not released or extended ends by itself, so that nothing hangs on it. */
function attempt(ask: () => Promise<void>): void {
  const tried = async () => ask();
  tried().catch(() => undefined);
}

function leasesOf({ name, leases }: QueueStore): NonNullable<QueueStore['leases']> {
  if (leases === undefined) throw new Error(`the ${name} store has no leases`);
  return leases;
}

/** What producers and the log are told of a failure: `ENOSPC`, say. */
function codeOf(error: unknown): string {
  const { details, code } = (error ?? {}) as {
    readonly details?: { readonly code?: unknown };
    readonly code?: unknown;
  };
  const told = isProjError(error) ? (details?.code ?? code) : code;
  return typeof told === 'string' && /^[\x21-\x7e]{1,64}$/.test(told) ? told : 'UNKNOWN';
}

function closed(): ProjError {
  return new ProjError('CLOSED', 'PzqServer: it is closed, or was before this was done');
}

function toDeadLetter(letter: DeadMessage, epoch: bigint): PzqDeadLetter {
  const { seq, storedMicros, diedMicros, reason, deliveries, body } = letter;
  return {
    key: Buffer.from(encodePzqKey({ storedMicros, epoch, seq })).toString('latin1'),
    reason,
    deliveries,
    storedMicros,
    diedMicros,
    body: toBuffers(body),
  };
}

/** The options as far as they are the engine's business. */
function engineSettings(settings: PzqServerSettings) {
  const {
    receive: _receive,
    send: _send,
    monitor: _monitor,
    store: _store,
    transport: _transport,
    curve: _curve,
    name: _name,
    access: _access,
    ...rest
  } = settings;
  return { ...rest, deadLetterSend: settings.deadLetterSend !== undefined, version: manifest.version };
}
