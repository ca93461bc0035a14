/** {@link Transport} over libzmq: real sockets, the machine's clock and randomness. */
import { systemClock } from '@proj/heartbeat';
import type { Context } from 'zeromq';
import { ProjError } from '../errors.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { PortOptions, PublisherPort, SocketPort, SubscriberPort, Transport } from '../port.js';
import { resolvePortOptions } from '../port-options.js';
import type { ResolvedPortOptions } from '../port-options.js';
import { CurveGuard } from './curve-guard.js';
import type { GuardedSocket } from './curve-guard.js';
import { systemEntropy } from '../entropy.js';
import { loadZeroMq } from './load.js';
import type { ZeroMq } from './load.js';
import { ZmqPort } from './port.js';
import { ZmqPublisher } from './publisher.js';
import { openDealer, openPublisher, openRouter, openSubscriber } from './socket.js';
import type { OpenSocket } from './socket.js';
import { ZmqSubscriber } from './subscriber.js';
import { ZapHandler } from './zap-handler.js';

/** libzmq's default is 1023; a process that plays many workers or clients needs one socket for each. */
const SOCKETS_MAX = 16_384;

/** Settings of a {@link ZmqTransport}. */
export interface ZmqOptions {
  /**
   * Dealers hand a message only to an established connection, after its handshake: `onSent` confirms that. Until then it waits in the port.
   * Default false: an endpoint takes it, and libzmq drops it if the other side refuses us.
   */
  readonly connectedOnly?: boolean;
  /** Bounds everything the process holds for peers, as far as libzmq reports it. Default: each socket has only its own limits. */
  readonly memory?: MemoryBudget | undefined;
}

interface Loaded {
  readonly zmq: ZeroMq;
  readonly context: Context;
  readonly zap: ZapHandler;
}

/** One libzmq context and the sockets made in it. */
export class ZmqTransport implements Transport {
  readonly clock = systemClock;
  readonly entropy = systemEntropy;
  readonly memory: MemoryBudget | undefined;
  readonly #importer: (() => Promise<ZeroMq>) | undefined;
  readonly #options: ZmqOptions;
  #loading: Promise<void> | undefined;
  #loaded: Loaded | undefined;

  constructor(importer?: () => Promise<ZeroMq>, options: ZmqOptions = {}) {
    this.#importer = importer;
    this.#options = options;
    this.memory = options.memory;
  }

  load(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  router(options?: PortOptions): SocketPort {
    return this.#open(openRouter, true, options);
  }

  dealer(options?: PortOptions): SocketPort {
    return this.#open(openDealer, false, options);
  }

  publisher(options?: PortOptions): PublisherPort {
    const resolved = resolvePortOptions(options);
    const { zmq, context } = this.#readyFor(resolved);
    const socket = openPublisher(zmq, context, resolved);
    return new ZmqPublisher(socket, resolved, this.clock, this.#guard(socket, resolved));
  }

  subscriber(options?: PortOptions): SubscriberPort {
    const resolved = resolvePortOptions(options);
    const { zmq, context } = this.#readyFor(resolved);
    const socket = openSubscriber(zmq, context, resolved);
    return new ZmqSubscriber(socket, resolved, this.clock, this.#guard(socket, resolved));
  }

  async #load(): Promise<void> {
    const zmq = await loadZeroMq(this.#importer);
    // A separate context, because its options affect all its sockets. Not blocky: only explicit linger delays an exit.
    const context = new zmq.Context({ blocky: false, maxSockets: SOCKETS_MAX });
    const zap = new ZapHandler(() => new zmq.Router({ context, linger: 0, sendTimeout: 0 }), this.clock);
    this.#loaded = { zmq, context, zap };
  }

  #open(
    open: (zmq: ZeroMq, context: Context, options: ResolvedPortOptions) => OpenSocket,
    routes: boolean,
    options: PortOptions | undefined,
  ): SocketPort {
    const resolved = resolvePortOptions(options);
    const { zmq, context } = this.#readyFor(resolved);
    const opened = open(zmq, context, resolved);
    if (!routes) opened.socket.immediate = this.#options.connectedOnly ?? false;
    return new ZmqPort(opened, routes, resolved, this.clock, this.#guard(opened.socket, resolved), this.memory);
  }

  #readyFor({ curve }: ResolvedPortOptions): Loaded {
    if (this.#loaded === undefined) throw new Error('transport: call and await load() before you open a socket');
    if (curve !== undefined && this.#loaded.zmq.capability.curve !== true)
      throw new ProjError(
        'UNAVAILABLE',
        `option curve: this build of libzmq (${this.#loaded.zmq.version}) has no CURVE; install zeromq with its prebuilt binary`,
      );
    return this.#loaded;
  }

  #guard(socket: unknown, { curve }: ResolvedPortOptions): CurveGuard | undefined {
    if (curve === undefined || this.#loaded === undefined) return undefined;
    return new CurveGuard(socket as GuardedSocket, curve, this.#loaded.zap, this.clock);
  }
}
