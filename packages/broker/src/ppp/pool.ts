/** Paranoid Pirate pool, the facade: 6/PPP's client as a part of an application. Rules: pool-engine.ts and docs/protocols/ppp.md. */
import { encodePpp } from '@proj/frames/ppp';
import { Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { AccessRules, BodyInput, EngineHost, Guarded, RefusalCounts, Startable } from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import { type BrokerEvents, compileAccess, hostOf } from '../host.js';
import { PoolCalls } from '../pool-calls.js';
import { PppPoolEngine } from './engine/pool-engine.js';
import type {
  PppNote,
  PppPoolEffect,
  PppPoolEvent,
  PppRefusal,
  PppRequestLoss,
  PppWorkerLostNotice,
  PppWorkerReadyNotice,
} from './engine/events.js';
import type { PppPoolStats } from './engine/state.js';
import { pppPoolOptions, pppRequestOptions } from './options.js';
import type { PppPoolOptions, PppPoolSettings, PppRequestOptions } from './options.js';
import { backendPlan } from './socket-plans.js';

/** Events of a {@link PppPool}. */
export type PppPoolEvents = BrokerEvents<PppWorkerReadyNotice, PppWorkerLostNotice, PppNote>;

interface Call {
  readonly timeoutMs: number;
  readonly outcome: {
    answer(content: Buffer[]): void;
    fail(error: unknown): void;
  };
}

/** Frames of a REQUEST besides its content: correlation id and empty frame. */
const ENVELOPE_FRAMES = 2;

/**
 * Distributes work of this process to Paranoid Pirate workers that connect to it: no queue in between, no client sockets.
 *
 * ```ts
 * await using pool = new PppPool({ endpoint: 'tcp://127.0.0.1:5557' });
 * await pool.start();
 * const [answer] = await pool.request('work', { timeoutMs: 500 });
 * ```
 *
 * Foreign workers may expect a single frame of content: the Guide's workers answer no other request.
 */
export class PppPool implements Startable<PppPoolEvents, string[]>, Guarded {
  readonly #settings: PppPoolSettings;
  readonly #engine: PppPoolEngine;
  readonly #host: EngineHost<PppPoolEvent, PppPoolEffect>;
  readonly #events = new Emitter<PppPoolEvents>();
  readonly #calls: PoolCalls<Call>;
  #starting: Promise<string[]> | undefined;

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
    this.#calls = new PoolCalls('PppPool', this.#host);
  }

  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * The answer of a worker, one Buffer per frame. The timeout includes the wait for a worker.
   *
   * Rejects with a `ProjError`: `TIMEOUT`, `PEER_LOST` (`maxAttempts` workers were lost with the request), `QUEUE_FULL`, `CLOSED` (not
   * started, draining or closed), `OPTIONS_INVALID`, or `PROTOCOL_LOCAL` (a body without frames, or over the limits); or with the signal's
   * reason. A failed request may have been executed once, several times or never, so the work must be idempotent.
   */
  async request(body: BodyInput, options: PppRequestOptions = {}): Promise<Buffer[]> {
    const { timeoutMs = this.#settings.timeoutMs, signal } = parseOptions('PppPool', pppRequestOptions, options);
    const content = this.#contentOf(body);
    signal?.throwIfAborted();
    return new Promise<Buffer[]>((resolve, reject) => {
      const id = this.#calls.open({ timeoutMs, outcome: { answer: resolve, fail: reject } }, signal);
      this.#host.dispatch({ kind: 'request', id, content, timeoutMs });
    });
  }

  /**
   * Forgets a worker at once; its job goes to another. `id` is its routing id as text or in hex. PPP cannot tell the worker, which registers
   * again when it misses our heartbeats. Returns how many there were: 1 or 0.
   */
  disconnectWorker(id: string): number {
    return this.#dismiss(id, false);
  }

  /** As {@link PppPool.disconnectWorker}, once its job has ended. */
  drainWorker(id: string): number {
    return this.#dismiss(id, true);
  }

  /** Requests that wait for a worker fail with `CLOSED`; running ones may finish for `drainMs`. */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  close(): Promise<void> {
    const closed = this.#host.close();
    this.#calls.failAll((call) => this.#errorFor('drained', call));
    return closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PppPoolEvents>(event: Name, listener: (payload: PppPoolEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('PppPool', rules));
  }

  /** Current sizes and running totals. */
  stats(): PppPoolStats & RefusalCounts;
  /** The same plus the operator's view: figures of the work and of each worker; all calls together are one client. */
  stats(options: { readonly detail: true }): PppPoolStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): PppPoolStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  #dismiss(worker: string, isGraceful: boolean): number {
    const count = this.#engine.named(worker);
    if (count > 0) this.#host.dispatch({ kind: 'dismiss', worker, isGraceful });
    return count;
  }

  #contentOf(body: BodyInput): Uint8Array[] {
    const content = toFrames('request', body);
    const { maxMessageFrames, maxMessageBytes } = this.#settings;
    const bytes = content.reduce((sum, frame) => sum + frame.length, 0);
    if (content.length + ENVELOPE_FRAMES <= maxMessageFrames && bytes <= maxMessageBytes) return content;
    throw new ProjError(
      'PROTOCOL_LOCAL',
      `request: ${content.length} frames of ${bytes} bytes in total; the limits are ${maxMessageFrames - ENVELOPE_FRAMES} frames (maxMessageFrames) and ${maxMessageBytes} bytes (maxMessageBytes)`,
    );
  }

  readonly #perform = (effect: PppPoolEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodePpp(effect.command));
        break;
      case 'answer':
        this.#calls.take(effect.id)?.outcome.answer(toBuffers(effect.content));
        break;
      case 'fail': {
        const call = this.#calls.take(effect.id);
        call?.outcome.fail(this.#errorFor(effect.reason, call));
        break;
      }
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

  #errorFor(reason: PppRefusal | PppRequestLoss, { timeoutMs }: Call): ProjError {
    const { maxAttempts, requestQueueMax, requestQueueMaxBytes } = this.#settings;
    switch (reason) {
      case 'expired':
        return new ProjError('TIMEOUT', `request: no answer within ${timeoutMs} ms`);
      case 'attempts-exhausted':
        return new ProjError('PEER_LOST', `request: lost with ${maxAttempts} workers (maxAttempts)`);
      case 'queue-full':
        return new ProjError(
          'QUEUE_FULL',
          `request: ${requestQueueMax} requests are waiting (requestQueueMax), ${requestQueueMaxBytes} bytes are open (requestQueueMaxBytes), or memory is short and no worker is idle; try again later`,
        );
      default:
        return new ProjError('CLOSED', `request: the pool is closing (${reason})`);
    }
  }
}
