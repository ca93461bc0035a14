/** {@link Transport} over Node's own sockets: ZMTP in TypeScript, no add-on, no thread. */
import { availableParallelism } from 'node:os';
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type {
  Entropy,
  LoadOptions,
  MemoryBudget,
  PortOptions,
  PublisherPort,
  SocketPort,
  SubscriberPort,
  Transport,
} from '@proj/transport';
import { resolvePortOptions, systemEntropy } from '@proj/transport/adapter';
import { DealerPort } from './dealer.js';
import { Dialer } from './lanes/dialer.js';
import { integer, limitsOf } from './limits.js';
import type { Failure } from './engine/failure.js';
import type { PlainOptions } from './engine/plain.js';
import { newPoller, REUSE, REUSE_MAPPED, SPARE_MEMORY } from './fast.js';
import { ZmtpPublisher } from './publisher.js';
import { CONNECTION_BYTES } from './relief.js';
import { RouterPort } from './router.js';
import { loadCurve } from './security.js';
import { ZmtpSubscriber } from './subscriber.js';
import { EVENT_LOOP, Turns } from './turn.js';
import { Watch } from './watch.js';
import type { World } from './world.js';

/** A connection that came to nothing or ended badly. */
export interface ConnectionFailure extends Failure {
  /** The endpoint of ours it belonged to, as it was given to `bind` or `connect`. */
  readonly endpoint: string;
}

/** Settings of a {@link ZmtpTransport}. All have defaults. */
export interface ZmtpOptions {
  /** From the first byte until the handshake must be complete, connecting included. Milliseconds; default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** First pause before connecting again; grows to {@link reconnectMaxMs}. Milliseconds; default 100. */
  readonly reconnectMinMs?: number;
  /** Longest pause before connecting again. Milliseconds; default 2000. */
  readonly reconnectMaxMs?: number;
  /** Connections that one bound endpoint serves at a time; others are closed at once. Default 65,536. */
  readonly connectionsMax?: number;
  /** And of them from one address; others are closed at once. Default: `connectionsMax`. */
  readonly connectionsPerAddressMax?: number;
  /** Connections that came to one socket and have not completed their handshake; one more, and the oldest is cut. Default 4096. */
  readonly handshakesMax?: number;
  /**
   * What messages that are not complete may hold in all connections of one socket; at least twice the largest message. Beyond it the
   * connection is cut of whose message nothing came for the longest time. Bytes; default 512 MiB.
   */
  readonly unfinishedMaxBytes?: number;
  /**
   * What may be on its way out through all connections of one router or publisher: each may hold as much as there is room left, so that who
   * does not read leaves some to others. What finds no room waits in the port's queue, or is lost by a publisher. Bytes; default 512 MiB.
   */
  readonly unreadMaxBytes?: number;
  /** What subscriptions one connection to a publisher may hold: their bytes and 64 for each. More ends it. Default 4 MiB. */
  readonly subscriptionBytesMax?: number;
  /** What all of the process may hold for peers: sockets join it, and have a quarter of it at most for connections. Default: each has its own bounds alone. */
  readonly memory?: MemoryBudget | undefined;
  /**
   * Whether each long body that comes in has a mapping of the system's of its own: when it is freed the process has as much less, whatever else is still in
   * use. Its `ArrayBuffer` is resizable, which a few web APIs refuse, so it is for programs that pass bodies on. Default false.
   */
  readonly mapsBodies?: boolean;
  /** PLAIN, on all sockets that have no CURVE: names and passwords in clear, for networks you trust. Default: NULL, which asks nobody. */
  readonly plain?: PlainOptions;
  /**
   * Whether sockets that connect to one endpoint share a connection there, in lanes, when the other side is this package as well and
   * allows it. Peers of libzmq are not concerned. Default true.
   */
  readonly lanes?: boolean;
  /**
   * So long a transport that others connect to looks for the next message after a lone one, instead of sleeping until it comes: where
   * messages follow each other closely, and that is measured to bring them sooner. It costs CPU time that is left over, up to all of one
   * core while lone requests follow each other. Microseconds, at most 10,000, 0 for never; default 200, with one core 0.
   */
  readonly pollUs?: number;
  /** Called with each connection that failed, also with each refused attempt to connect. Default: nobody is told. */
  readonly onConnectionFailed?: (failure: ConnectionFailure) => void;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: the machine's randomness. */
  readonly entropy?: Entropy;
}

const POLL_US = availableParallelism() > 1 ? 200 : 0;
const POLL_US_MAX = 10_000;
/** A connection that lasted this long starts the pauses anew. */
const PROVEN_MS = 1000;

/** Routers, dealers, publishers and subscribers that speak ZMTP 3.1 (and 3.0) over `tcp://` and `ipc://`, with the mechanisms NULL, PLAIN and CURVE. */
export class ZmtpTransport implements Transport {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly tellsKeys = true;
  readonly memory: MemoryBudget | undefined;
  readonly #world: World;

  /** Throws `OPTIONS_INVALID`. */
  constructor(options: ZmtpOptions = {}) {
    const { clock = systemClock, entropy = systemEntropy, lanes = true, onConnectionFailed } = options;
    const minMs = integer('reconnectMinMs', options.reconnectMinMs, { default: 100, min: 1 });
    const watch = new Watch(clock);
    const pollUs = integer('pollUs', options.pollUs, { default: POLL_US, min: 0, max: POLL_US_MAX });
    const turns = new Turns(() => watch.now(), newPoller(pollUs / 1000, EVENT_LOOP));
    this.clock = clock;
    this.entropy = entropy;
    this.memory = options.memory;
    this.memory?.add(SPARE_MEMORY);
    this.#world = {
      clock,
      entropy,
      watch,
      turns,
      dialer: new Dialer({ turns, watch }, lanes),
      lanes,
      backoff: {
        minMs,
        maxMs: integer('reconnectMaxMs', options.reconnectMaxMs, { default: 2000, min: minMs }),
        minUptimeMs: PROVEN_MS,
      },
      handshakeMs: integer('handshakeTimeoutMs', options.handshakeTimeoutMs, { default: 10_000, min: 1 }),
      ...this.#within(limitsOf(options)),
      reuse: options.mapsBodies === true ? REUSE_MAPPED : REUSE,
      memory: options.memory,
      plain: options.plain && checkPlain(options.plain),
      onFailure: (endpoint, failure) => onConnectionFailed?.({ endpoint, ...failure }),
    };
  }

  /** Idle connections hold memory as well: a quarter of the budget at most. */
  #within(limits: ReturnType<typeof limitsOf>): ReturnType<typeof limitsOf> {
    const { maxBytes = Infinity } = this.memory ?? {};
    const most = Math.max(1, Math.floor(maxBytes / 4 / CONNECTION_BYTES));
    return { ...limits, connectionsMax: Math.min(limits.connectionsMax, most) };
  }

  /** CURVE is a module of its own; there is nothing else to load. */
  load({ curve = true }: LoadOptions = {}): Promise<void> {
    return curve ? loadCurve() : Promise.resolve();
  }

  router(options?: PortOptions): SocketPort {
    return new RouterPort(this.#world, resolvePortOptions(options));
  }

  dealer(options?: PortOptions): SocketPort {
    return new DealerPort(this.#world, resolvePortOptions(options));
  }

  publisher(options?: PortOptions): PublisherPort {
    return new ZmtpPublisher(this.#world, resolvePortOptions(options));
  }

  subscriber(options?: PortOptions): SubscriberPort {
    return new ZmtpSubscriber(this.#world, resolvePortOptions(options));
  }
}

/** PLAIN has one byte for the length of each. */
function checkPlain(options: PlainOptions): PlainOptions {
  if (options.role === 'server') return options;
  for (const name of ['username', 'password'] as const)
    if (!/^[\0-\xff]{0,255}$/.test(options[name]))
      throw new ProjError('OPTIONS_INVALID', `option plain.${name}: must be Latin-1 of at most 255 characters`);
  return options;
}
