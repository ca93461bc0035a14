/** Majordomo broker, the facade: 18/MDP (0.2), 7/MDP (0.1) and 8/MMI on one ROUTER. Rules: engine.ts and docs/protocols/mdp.md. */
import { encodeMdp } from '@proj/frames/mdp';
import type { Service } from '@proj/frames/service';
import { Emitter, parseOptions, UnheardErrors } from '@proj/transport';
import type { AccessRules, EngineHost, HandshakeRefusal, RefusalCounts } from '@proj/transport';
import { compileAccess, hostOf } from '../host.js';
import type {
  MdpBrokerEffect,
  MdpBrokerEvent,
  MdpBrokerNote,
  MdpWorkerLostNotice,
  MdpWorkerReadyNotice,
} from './engine/events.js';
import { MdpBrokerEngine } from './engine/engine.js';
import { mdpBrokerOptions } from './options.js';
import type { MdpBrokerOptions, MdpHandler, MdpServeOptions } from './options.js';
import { OwnHandlers } from './own-handlers.js';
import { socketPlan } from './socket-plans.js';
import type { MdpBrokerStats } from './engine/stats.js';

/** Events of an {@link MdpBroker}. */
export interface MdpBrokerEvents {
  'worker-ready': MdpWorkerReadyNotice;
  'worker-lost': MdpWorkerLostNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: MdpBrokerNote;
  /** A handler of a service inside the broker threw or broke its service's promise, or `onError` threw. The broker goes on. Where nobody listens: standard error, once a minute. */
  error: { readonly service: string; readonly error: unknown };
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** The socket failed for good: nothing more is received. Close this broker and start another. */
  broken: Error;
}

/**
 * Routes requests from clients to the workers of named services and replies back, for MDP 0.2 and 0.1 side by side.
 *
 * ```ts
 * await using broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:5555' });
 * await broker.start();
 * ```
 */
export class MdpBroker {
  readonly #engine: MdpBrokerEngine;
  readonly #host: EngineHost<MdpBrokerEvent, MdpBrokerEffect>;
  readonly #events = new Emitter<MdpBrokerEvents>();
  readonly #unheard = new UnheardErrors('MdpBroker');
  readonly #own: OwnHandlers;
  #starting: Promise<string[]> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: MdpBrokerOptions = {}) {
    const settings = parseOptions('MdpBroker', mdpBrokerOptions, options);
    this.#engine = new MdpBrokerEngine(settings);
    const host = () => this.#host;
    this.#own = new OwnHandlers(settings, {
      get clock() {
        return host().transport?.clock;
      },
      dispatch: (event) => {
        host().dispatch(event);
      },
      pendingFor: (client) => host().pendingFor(0, client),
      onError: (service, error) => {
        if (this.#events.has('error')) this.#events.emit('error', { service, error });
        else this.#unheard.tell(error);
      },
    });
    this.#host = hostOf<MdpBrokerEvent, MdpBrokerEffect>(settings, this.#events, {
      name: 'MdpBroker',
      engine: this.#engine,
      sockets: [socketPlan(settings)],
      started: { kind: 'serve', services: this.#own.early },
      onMemory: (isTight) => ({ kind: 'memory', isTight }),
      perform: this.#perform,
    });
  }

  /**
   * Binds and serves. Resolves to the bound endpoints, wildcard ports filled in. Rejects with `ADDRESS_IN_USE`,
   * `OPTIONS_INVALID` (an endpoint nobody can bind) or `UNAVAILABLE` (no ZeroMQ on this machine), and nothing is left bound.
   */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * Serves requests inside the broker, without a worker: from now on, and in a broker that is not started yet, from its start on. The
   * handler is one of an `MdpWorker`, and clients see no difference. Workers that register for the same service come first: the broker's
   * own thread, which everybody shares, takes what they are too busy for.
   *
   * ```ts
   * const stop = broker.serve('time', () => new Date().toISOString());
   * ```
   *
   * Clients of both versions can ask for it; for a typed service with partial replies those of 0.2. The handler's signal aborts when its
   * client is gone (`PEER_LOST`) or the broker closes (`CLOSED`). A handler that throws is an event `error`; see option `onError`.
   *
   * Returns the function that stops it: no more requests are taken, and its promise resolves when the last handler has ended. Throws
   * `OPTIONS_INVALID` for a name that is none, is reserved (`mmi.`) or served already, for what is no handler, over `servicesMax`, and
   * `CLOSED` after `close`.
   */
  serve<S extends string | Service>(
    service: S,
    handler: MdpHandler<S>,
    options: MdpServeOptions = {},
  ): () => Promise<void> {
    return this.#own.serve(service, handler, options);
  }

  /**
   * Comes to an end in order: no new requests, running jobs and handlers may finish for `drainMs`, DISCONNECT to every worker, then
   * `close`. Idempotent.
   */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  /**
   * Stops at once: waiting and running requests are dropped, handlers are told by their signals and not waited for, workers and clients
   * find out by themselves. Idempotent.
   */
  close(): Promise<void> {
    this.#own.close();
    return this.#host.close();
  }

  /** As {@link MdpBroker.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof MdpBrokerEvents>(event: Name, listener: (payload: MdpBrokerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for those who are registered: rule 28. Throws `OPTIONS_INVALID`, and the old ones
   * stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('MdpBroker', rules));
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. */
  stats(): MdpBrokerStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
  }

  readonly #perform = (effect: MdpBrokerEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodeMdp(effect.command));
        break;
      case 'release':
        this.#host.release(0, effect.body);
        break;
      case 'run':
        this.#own.run(effect);
        break;
      case 'cancel':
        this.#own.cancel(effect.run, effect.reason);
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
