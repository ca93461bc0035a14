/** Paranoid Pirate pool, the facade: 6/PPP's client as a part of an application. Rules: engine-pool.ts and docs/protocols/ppp.md. */
import { encodePpp } from '@proj/frames/ppp';
import { Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { AccessRules, EngineHost, BodyInput, HandshakeRefusal, RefusalCounts } from '@proj/transport';
import { compileAccess, hostOf } from '../host.js';
import type {
  PppNote,
  PppPoolEffect,
  PppPoolEvent,
  PppRefusal,
  PppRequestLoss,
  PppWorkerLostNotice,
  PppWorkerReadyNotice,
} from './engine/events.js';
import { PppPoolEngine } from './engine/engine-pool.js';
import { pppPoolOptions, pppRequestOptions } from './options.js';
import type { PppPoolOptions, PppPoolSettings, PppRequestOptions } from './options.js';
import { backendPlan } from './socket-plans.js';
import type { PppPoolStats } from './engine/stats.js';

/** Events of a {@link PppPool}. */
export interface PppPoolEvents {
  'worker-ready': PppWorkerReadyNotice;
  'worker-lost': PppWorkerLostNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: PppNote;
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** The socket failed for good: no worker is heard any more. Close this pool and start another. */
  broken: Error;
}

/** A request that somebody waits for. */
interface Pending {
  readonly timeoutMs: number;
  readonly resolve: (content: Buffer[]) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the caller's signal. */
  readonly release: () => void;
}

/** Frames that a REQUEST has besides its content: correlation id and empty frame. */
const ENVELOPE_FRAMES = 2;

/**
 * Hands out work of this process to Paranoid Pirate workers that connect to it: no queue in between, no client sockets.
 *
 * ```ts
 * await using pool = new PppPool({ endpoint: 'tcp://127.0.0.1:5557' });
 * await pool.start();
 * const [answer] = await pool.request('work', { timeoutMs: 500 });
 * ```
 *
 * Workers that are foreign may expect a single frame of content: the Guide's answer no other request.
 */
export class PppPool {
  readonly #settings: PppPoolSettings;
  readonly #engine: PppPoolEngine;
  readonly #host: EngineHost<PppPoolEvent, PppPoolEffect>;
  readonly #events = new Emitter<PppPoolEvents>();
  readonly #pending = new Map<number, Pending>();
  #starting: Promise<string[]> | undefined;
  #closing: Promise<void> | undefined;
  #nextId: number | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PppPoolOptions = {}) {
    const settings = parseOptions('PppPool', pppPoolOptions, options);
    this.#settings = settings;
    this.#engine = new PppPoolEngine(settings);
    this.#host = hostOf<PppPoolEvent, PppPoolEffect>(settings, this.#events, {
      name: 'PppPool',
      engine: this.#engine,
      sockets: [backendPlan({ bind: settings.endpoint, connect: settings.connect }, settings)],
      onMemory: (isTight) => ({ kind: 'memory', isTight }),
      perform: this.#perform,
    });
  }

  /**
   * Binds or connects, and takes in workers. Resolves to the bound endpoints, wildcard ports filled in. Rejects with `ADDRESS_IN_USE`,
   * `OPTIONS_INVALID` (an endpoint nobody can bind), `UNAVAILABLE` (no ZeroMQ on this machine) or `CLOSED`, and nothing is
   * left bound.
   */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * The answer of a worker, one Buffer per frame. Waits for a worker as long as its time lasts.
   *
   * Rejects with a `ProjError`: `TIMEOUT`, `PEER_LOST` (lost with `maxAttempts` workers), `QUEUE_FULL`, `CLOSED` (not started,
   * draining or closed), `OPTIONS_INVALID`, or `PROTOCOL_LOCAL` (a body without frames, or over the limits); or with the
   * signal's reason. What failed may have been executed once, several times or never: work for a pool is idempotent.
   */
  async request(body: BodyInput, options: PppRequestOptions = {}): Promise<Buffer[]> {
    const { timeoutMs = this.#settings.timeoutMs, signal } = parseOptions('PppPool', pppRequestOptions, options);
    const content = this.#contentOf(body);
    signal?.throwIfAborted();
    const id = this.#takeId();
    return new Promise<Buffer[]>((resolve, reject) => {
      const abort = () => {
        this.#pending.delete(id);
        this.#host.dispatch({ kind: 'abort', id });
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const release = () => signal?.removeEventListener('abort', abort);
      this.#pending.set(id, { timeoutMs, resolve, reject, release });
      this.#host.dispatch({ kind: 'request', id, content, timeoutMs });
    });
  }

  /**
   * Comes to an end in order: no new requests, those without a worker fail with `CLOSED`, running ones may finish for
   * `drainMs`, then `close`. Idempotent.
   */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  /** Stops at once: open requests fail with `CLOSED`, workers find out by themselves. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** As {@link PppPool.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof PppPoolEvents>(event: Name, listener: (payload: PppPoolEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for workers that are registered: rule 20. Throws `OPTIONS_INVALID`, and the old ones
   * stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('PppPool', rules));
  }

  /** Sizes now and totals so far. */
  stats(): PppPoolStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
  }

  #contentOf(body: BodyInput): Uint8Array[] {
    const content = toFrames('request', body);
    const { maxMessageFrames, maxMessageBytes } = this.#settings;
    const bytes = content.reduce((sum, frame) => sum + frame.length, 0);
    if (content.length + ENVELOPE_FRAMES <= maxMessageFrames && bytes <= maxMessageBytes) return content;
    throw new ProjError(
      'PROTOCOL_LOCAL',
      `request: ${content.length} frames of ${bytes} bytes in all; allowed are ${maxMessageFrames - ENVELOPE_FRAMES} frames (maxMessageFrames) and ${maxMessageBytes} bytes (maxMessageBytes)`,
    );
  }

  /** Rule 2: ids begin at the wall clock's microseconds, so that a pool that is started anew uses none again. */
  #takeId(): number {
    const transport = this.#host.transport;
    if (transport === undefined) throw new ProjError('CLOSED', 'PppPool: request while not started');
    const id = this.#nextId ?? transport.entropy.wallMicros();
    this.#nextId = id + 1;
    return id;
  }

  #close(): Promise<void> {
    const closed = this.#host.close();
    for (const id of this.#pending.keys()) this.#fail(id, 'drained');
    return closed;
  }

  readonly #perform = (effect: PppPoolEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodePpp(effect.command));
        break;
      case 'answer':
        this.#take(effect.id)?.resolve(toBuffers(effect.content));
        break;
      case 'fail':
        this.#fail(effect.id, effect.reason);
        break;
      case 'drained':
        this.#host.drained();
        break;
      case 'note':
      case 'worker-ready':
      case 'worker-lost':
        this.#events.emit(effect.kind, effect);
        break;
    }
  };

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.release();
    return pending;
  }

  #fail(id: number, reason: PppRefusal | PppRequestLoss): void {
    const pending = this.#take(id);
    pending?.reject(this.#errorFor(reason, pending.timeoutMs));
  }

  #errorFor(reason: PppRefusal | PppRequestLoss, timeoutMs: number): ProjError {
    const { maxAttempts, requestQueueMax, requestQueueMaxBytes } = this.#settings;
    switch (reason) {
      case 'expired':
        return new ProjError('TIMEOUT', `request: no answer within ${timeoutMs} ms`);
      case 'attempts-exhausted':
        return new ProjError('PEER_LOST', `request: lost with ${maxAttempts} workers (maxAttempts)`);
      case 'queue-full':
        return new ProjError(
          'QUEUE_FULL',
          `request: ${requestQueueMax} requests (requestQueueMax) or ${requestQueueMaxBytes} bytes (requestQueueMaxBytes) are open, or the process has no room for what would have to wait`,
        );
      default:
        return new ProjError('CLOSED', `request: the pool is closing (${reason})`);
    }
  }
}
