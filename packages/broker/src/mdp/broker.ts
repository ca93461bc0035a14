/** Majordomo broker, the facade: 18/MDP (0.2), 7/MDP (0.1) and 8/MMI on one ROUTER. Rules: engine.ts and docs/protocols/mdp.md. */
import { encodeMdp } from '@proj/frames/mdp';
import type { Service } from '@proj/frames/service';
import { Emitter, parseOptions, UnheardErrors } from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import type { AccessRules, EngineHost, Guarded, RefusalCounts, Startable } from '@proj/transport';
import { type BrokerEvents, compileAccess, hostOf } from '../host.js';
import type {
  MdpBrokerEffect,
  MdpBrokerEvent,
  MdpBrokerNote,
  MdpWorkerChoice,
  MdpWorkerLostNotice,
  MdpWorkerReadyNotice,
} from './engine/events.js';
import { MdpBrokerEngine } from './engine/engine.js';
import { mdpBrokerOptions } from './options.js';
import type { MdpBrokerOptions, MdpHandler, MdpServeOptions } from './options.js';
import { OwnHandlers } from './own-handlers.js';
import { socketPlan } from './socket-plans.js';
import type { MdpBrokerStats } from './engine/state.js';

/** Events of an {@link MdpBroker}. */
export interface MdpBrokerEvents extends BrokerEvents<MdpWorkerReadyNotice, MdpWorkerLostNotice, MdpBrokerNote> {
  /**
   * A handler inside the broker threw or violated its service's schema, or `onError` threw. The broker continues. Without a listener: standard
   * error, once a minute.
   */
  error: { readonly service: string; readonly error: unknown };
}

/**
 * Routes requests from clients to the workers of named services, and the replies back, for MDP 0.2 and 0.1 side by side.
 *
 * ```ts
 * await using broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:5555' });
 * await broker.start();
 * ```
 */
export class MdpBroker implements Startable<MdpBrokerEvents, string[]>, Guarded {
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

  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * Serves requests inside the broker, without a worker: from now on, or from the start of the broker. The handler is the same as that of an
   * `MdpWorker`, and clients see no difference. Workers that register for the same service come first; the broker's own thread, which all peers
   * share, takes what they are too busy for.
   *
   * ```ts
   * const stop = broker.serve('time', () => new Date().toISOString());
   * ```
   *
   * Clients of both versions can use it; a typed service with partial replies only 0.2 clients. The handler's signal aborts when the client has
   * gone (`PEER_LOST`) or the broker closes (`CLOSED`). If a handler throws, the event `error` reports it; see option `onError`.
   *
   * Returns a function that stops it: no more requests are accepted, and its promise resolves when the last handler has ended. Throws
   * `OPTIONS_INVALID` for a name that is invalid, reserved (`mmi.`) or already served, for a handler that is not a function, and beyond
   * `servicesMax`; throws `CLOSED` after `close`.
   */
  serve<S extends string | Service>(
    service: S,
    handler: MdpHandler<S>,
    options: MdpServeOptions = {},
  ): () => Promise<void> {
    return this.#own.serve(service, handler, options);
  }

  /** Sends DISCONNECT to a worker at once; its job goes to another. `id` is its routing id as text or in hex. Returns how many there were: 1 or 0. */
  disconnectWorker(id: string): number {
    return this.#dismiss({ worker: id }, false);
  }

  /** As {@link MdpBroker.disconnectWorker}, once its job has ended. */
  drainWorker(id: string): number {
    return this.#dismiss({ worker: id }, true);
  }

  /** As {@link MdpBroker.drainWorker}, for all workers of a service. They may register again. */
  drainService(name: string): number {
    return this.#dismiss({ service: name }, true);
  }

  /** Running jobs and handlers may finish for `drainMs`; then every worker gets DISCONNECT. */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  /** Handlers are aborted through their signals, without waiting for them. */
  close(): Promise<void> {
    this.#own.close();
    return this.#host.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof MdpBrokerEvents>(event: Name, listener: (payload: MdpBrokerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('MdpBroker', rules));
  }

  /** Current sizes and running totals; the cost is linear in the number of services. */
  stats(): MdpBrokerStats & RefusalCounts;
  /** The same plus the operator's view: figures of each service, worker and client, at a cost linear in these. */
  stats(options: { readonly detail: true }): MdpBrokerStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): MdpBrokerStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  #dismiss(choice: MdpWorkerChoice, isGraceful: boolean): number {
    const { length } = this.#engine.chosen(choice);
    if (length > 0) this.#host.dispatch({ kind: 'dismiss', ...choice, isGraceful });
    return length;
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
