/** Paranoid Pirate queue, the facade: 6/PPP towards workers, plain request-reply towards clients. Rules: engine.ts and docs/protocols/ppp.md. */
import { encodePpp } from '@proj/frames/ppp';
import { Emitter, parseOptions } from '@proj/transport';
import type { AccessRules, EngineHost, Guarded, RefusalCounts, Startable } from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import { type BrokerEvents, compileAccess, hostOf } from '../host.js';
import { PppQueueEngine } from './engine/engine.js';
import type {
  PppNote,
  PppQueueEffect,
  PppQueueEvent,
  PppWorkerLostNotice,
  PppWorkerReadyNotice,
} from './engine/events.js';
import type { PppQueueStats } from './engine/state.js';
import { pppQueueOptions } from './options.js';
import type { PppQueueOptions } from './options.js';
import { backendPlan, frontendPlan } from './socket-plans.js';

/** Events of a {@link PppQueue}. */
export type PppQueueEvents = BrokerEvents<PppWorkerReadyNotice, PppWorkerLostNotice, PppNote>;

/** Bound endpoints of a {@link PppQueue}, with wildcard ports filled in; none for a socket that only connects. */
export interface PppQueueEndpoints {
  /** For clients. */
  readonly frontend: string[];
  /** For workers. */
  readonly backend: string[];
}

/** Indexes of the sockets in the host's program. */
const SOCKETS = { frontend: 0, backend: 1 } as const;

/**
 * Gives requests from clients (REQ, or DEALER with an empty frame) to Paranoid Pirate workers, one at a time each, and resends them when workers
 * die.
 *
 * ```ts
 * await using queue = new PppQueue({ frontend: 'tcp://127.0.0.1:5556', backend: 'tcp://127.0.0.1:5557' });
 * await queue.start();
 * ```
 */
export class PppQueue implements Startable<PppQueueEvents, PppQueueEndpoints>, Guarded {
  readonly #engine: PppQueueEngine;
  readonly #host: EngineHost<PppQueueEvent, PppQueueEffect>;
  readonly #events = new Emitter<PppQueueEvents>();
  #starting: Promise<PppQueueEndpoints> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PppQueueOptions = {}) {
    const settings = parseOptions('PppQueue', pppQueueOptions, options);
    this.#engine = new PppQueueEngine(settings);
    this.#host = hostOf<PppQueueEvent, PppQueueEffect>(settings, this.#events, {
      name: 'PppQueue',
      engine: this.#engine,
      sockets: [
        frontendPlan({ bind: settings.frontend, connect: settings.frontendConnect }, settings),
        backendPlan({ bind: settings.backend, connect: settings.backendConnect }, settings),
      ],
      onMemory: (isTight) => ({ kind: 'memory', isTight }),
      perform: this.#perform,
    });
  }

  start(): Promise<PppQueueEndpoints> {
    return (this.#starting ??= this.#host.start().then(([frontend = [], backend = []]) => ({ frontend, backend })));
  }

  /**
   * Forgets a worker at once; its job goes to another. `id` is its routing id as text or in hex. PPP cannot tell the worker, which registers
   * again when it misses our heartbeats. Returns how many there were: 1 or 0.
   */
  disconnectWorker(id: string): number {
    return this.#dismiss(id, false);
  }

  /** As {@link PppQueue.disconnectWorker}, once its job has ended. */
  drainWorker(id: string): number {
    return this.#dismiss(id, true);
  }

  drain(): Promise<void> {
    return this.#host.drain();
  }

  close(): Promise<void> {
    return this.#host.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PppQueueEvents>(event: Name, listener: (payload: PppQueueEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('PppQueue', rules));
  }

  /** Current sizes and running totals. */
  stats(): PppQueueStats & RefusalCounts;
  /** The same plus the operator's view: figures of the work, and of each worker and client. */
  stats(options: { readonly detail: true }): PppQueueStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): PppQueueStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  #dismiss(worker: string, isGraceful: boolean): number {
    const count = this.#engine.named(worker);
    if (count > 0) this.#host.dispatch({ kind: 'dismiss', worker, isGraceful });
    return count;
  }

  readonly #perform = (effect: PppQueueEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(SOCKETS[effect.socket], effect.peer, encodePpp(effect.command));
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
}
