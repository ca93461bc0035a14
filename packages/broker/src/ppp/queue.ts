/** Paranoid Pirate queue, the facade: 6/PPP towards workers, plain request-reply towards clients. Rules: engine.ts and docs/protocols/ppp.md. */
import { encodePpp } from '@proj/frames/ppp';
import { Emitter, parseOptions } from '@proj/transport';
import type { AccessRules, EngineHost, HandshakeRefusal, RefusalCounts } from '@proj/transport';
import { compileAccess, hostOf } from '../host.js';
import type {
  PppNote,
  PppQueueEffect,
  PppQueueEvent,
  PppWorkerLostNotice,
  PppWorkerReadyNotice,
} from './engine/events.js';
import { PppQueueEngine } from './engine/engine.js';
import { pppQueueOptions } from './options.js';
import type { PppQueueOptions } from './options.js';
import { backendPlan, frontendPlan } from './socket-plans.js';
import type { PppQueueStats } from './engine/stats.js';

/** Events of a {@link PppQueue}. */
export interface PppQueueEvents {
  'worker-ready': PppWorkerReadyNotice;
  'worker-lost': PppWorkerLostNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: PppNote;
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** A socket failed for good: nothing more is received there. Close this queue and start another. */
  broken: Error;
}

/** Where a {@link PppQueue} is bound, wildcard ports filled in; none of a socket that connects only. */
export interface PppQueueEndpoints {
  /** For clients. */
  readonly frontend: string[];
  /** For workers. */
  readonly backend: string[];
}

/** Places of the sockets in the host's program. */
const SOCKETS = { frontend: 0, backend: 1 } as const;

/**
 * Gives the requests of clients (REQ, or DEALER with an empty frame) to Paranoid Pirate workers, one at a time each, and
 * sees them through when workers die.
 *
 * ```ts
 * await using queue = new PppQueue({ frontend: 'tcp://127.0.0.1:5556', backend: 'tcp://127.0.0.1:5557' });
 * await queue.start();
 * ```
 */
export class PppQueue {
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

  /**
   * Binds, connects and serves. Resolves to the bound endpoints. Rejects with `ADDRESS_IN_USE`, `OPTIONS_INVALID` (an endpoint nobody
   * can bind), `UNAVAILABLE` (no ZeroMQ on this machine) or `CLOSED`, and nothing is left bound.
   */
  start(): Promise<PppQueueEndpoints> {
    return (this.#starting ??= this.#host.start().then(([frontend = [], backend = []]) => ({ frontend, backend })));
  }

  /** Comes to an end in order: no new requests, running jobs may finish for `drainMs`, then `close`. Idempotent. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  /** Stops at once: waiting and running requests are dropped, workers and clients find out by themselves. Idempotent. */
  close(): Promise<void> {
    return this.#host.close();
  }

  /** As {@link PppQueue.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof PppQueueEvents>(event: Name, listener: (payload: PppQueueEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for workers that are registered: rule 20. Throws `OPTIONS_INVALID`, and the old ones
   * stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('PppQueue', rules));
  }

  /** Sizes now and totals so far. */
  stats(): PppQueueStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
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
