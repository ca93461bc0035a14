/** {@link Transport} over libzmq: real sockets, the machine's clock and randomness. */
import { systemClock } from '@proj/heartbeat';
import type { Context } from 'zeromq';
import { ProjError } from '../errors.js';
import type { PortOptions, PublisherPort, SocketPort, SubscriberPort, Transport } from '../port.js';
import { resolvePortOptions } from '../port-options.js';
import type { ResolvedPortOptions } from '../port-options.js';
import { systemEntropy } from './entropy.js';
import { loadZeroMq } from './load.js';
import type { ZeroMq } from './load.js';
import { ZmqPort } from './port.js';
import { openDealer, openRouter } from './socket.js';
import type { OpenSocket } from './socket.js';

/** libzmq's own limit is 1023; a process that plays many workers or clients needs one socket for each. */
const SOCKETS_MAX = 16_384;

interface Loaded {
  readonly zmq: ZeroMq;
  readonly context: Context;
}

/** One libzmq context and the sockets made in it. */
export class ZmqTransport implements Transport {
  readonly clock = systemClock;
  readonly entropy = systemEntropy;
  readonly #importer: (() => Promise<ZeroMq>) | undefined;
  #loading: Promise<void> | undefined;
  #loaded: Loaded | undefined;

  constructor(importer?: () => Promise<ZeroMq>) {
    this.#importer = importer;
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

  publisher(): PublisherPort {
    throw new ProjError('UNAVAILABLE', 'publisher: this transport has no PUB sockets yet');
  }

  subscriber(): SubscriberPort {
    throw new ProjError('UNAVAILABLE', 'subscriber: this transport has no SUB sockets yet');
  }

  async #load(): Promise<void> {
    const zmq = await loadZeroMq(this.#importer);
    // A context of our own: its options are nobody else's business. Not blocky: only explicit linger holds up an exit.
    const context = new zmq.Context({ blocky: false, maxSockets: SOCKETS_MAX });
    this.#loaded = { zmq, context };
  }

  #open(
    open: (zmq: ZeroMq, context: Context, options: ResolvedPortOptions) => OpenSocket,
    routes: boolean,
    options: PortOptions | undefined,
  ): SocketPort {
    if (this.#loaded === undefined) throw new Error('transport: sockets can be opened only after load()');
    const resolved = resolvePortOptions(options);
    return new ZmqPort(open(this.#loaded.zmq, this.#loaded.context, resolved), routes, resolved, this.clock);
  }
}
