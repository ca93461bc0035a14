/** {@link Transport} over Node's own sockets: ZMTP in TypeScript, without an add-on or a thread. */
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
import type { PlainOptions } from './engine/mechanisms/plain.js';
import { newPoller, REUSE, REUSE_MAPPED, SPARE_MEMORY } from './fast.js';
import { ZmtpPublisher } from './publisher.js';
import { CONNECTION_BYTES } from './relief.js';
import { RouterPort } from './router.js';
import { loadCurve } from './security.js';
import { ZmtpSubscriber } from './subscriber.js';
import { EVENT_LOOP, Turns } from './turn.js';
import { Watch } from './watch.js';
import type { World } from './world.js';

/** A connection that failed to be made or ended with an error. */
export interface ConnectionFailure extends Failure {
  /** The local endpoint it belonged to, as given to `bind` or `connect`. */
  readonly endpoint: string;
}

/** Settings of a {@link ZmtpTransport}. All have defaults. */
export interface ZmtpOptions {
  /** Time limit from the first byte to the end of the handshake, including connecting. Milliseconds; default 10,000. */
  readonly handshakeTimeoutMs?: number;
  /** First pause before reconnecting; grows to {@link reconnectMaxMs}. Milliseconds; default 100. */
  readonly reconnectMinMs?: number;
  /** Longest pause before reconnecting. Milliseconds; default 2000. */
  readonly reconnectMaxMs?: number;
  /** Connections per bound endpoint; more are closed at once. Default 65,536. */
  readonly connectionsMax?: number;
  /** Connections from one address to a socket; more are closed at once. Default: `connectionsMax`. */
  readonly connectionsPerAddressMax?: number;
  /** Incoming connections of a socket that are still in their handshake. One more cuts the oldest. Default 4096. */
  readonly handshakesMax?: number;
  /**
   * Memory of unfinished messages over all connections of a socket; at least twice the largest message. Beyond it, the connection that has been
   * idle longest is cut. Bytes; default 512 MiB.
   */
  readonly unfinishedMaxBytes?: number;
  /**
   * Outgoing bytes over all connections of a router or publisher. Each connection may hold as much as is left for the others, so one that does
   * not read cannot take everything. A message without room waits in the port's queue; a publisher drops it. Bytes; default 512 MiB.
   */
  readonly unreadMaxBytes?: number;
  /** Memory of one connection's subscriptions at a publisher: their bytes plus 64 each. More ends the connection. Default 4 MiB. */
  readonly subscriptionBytesMax?: number;
  /**
   * Bounds everything the process holds for peers. Sockets join it; their connections take a quarter of it at most. Default: each socket has
   * only its own limits.
   */
  readonly memory?: MemoryBudget | undefined;
  /**
   * Whether each long incoming body has a memory mapping of its own: when it is freed, the process shrinks by as much, whatever else is still in
   * use. Its `ArrayBuffer` is resizable, which a few web APIs refuse, so this is for programs that pass bodies on. Default false.
   */
  readonly mapsBodies?: boolean;
  /** PLAIN on all sockets without CURVE: names and passwords in clear text, for networks you trust. Default: NULL, no authentication. */
  readonly plain?: PlainOptions;
  /**
   * Whether sockets that connect to one endpoint share a connection (lanes). Requires this package with lanes enabled on the other side; does
   * not affect libzmq peers. Default true.
   */
  readonly lanes?: boolean;
  /**
   * How long a binding side polls for the next message after a lone one, instead of sleeping. It polls only while measurements show that this
   * speeds up messages in close succession, and may use up to one idle core. Microseconds, at most 10,000; 0 for never. Default 200, or 0 with
   * one core.
   */
  readonly pollUs?: number;
  /** Called for each connection that failed, including each refused attempt to connect. Default: no callback. */
  readonly onConnectionFailed?: (failure: ConnectionFailure) => void;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: the machine's randomness. */
  readonly entropy?: Entropy;
}

const POLL_US = availableParallelism() > 1 ? 200 : 0;
const POLL_US_MAX = 10_000;
/** A connection that lasted this long resets the pauses. */
const PROVEN_MS = 1000;

/** Routers, dealers, publishers and subscribers that speak ZMTP 3.1 and 3.0 over `tcp://` and `ipc://`, with the mechanisms NULL, PLAIN and CURVE. */
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
    const turns = new Turns(watch, newPoller(pollUs / 1000, EVENT_LOOP));
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

  /** Idle connections use memory too: a quarter of the budget at most. */
  #within(limits: ReturnType<typeof limitsOf>): ReturnType<typeof limitsOf> {
    const { maxBytes = Infinity } = this.memory ?? {};
    const most = Math.max(1, Math.floor(maxBytes / 4 / CONNECTION_BYTES));
    return { ...limits, connectionsMax: Math.min(limits.connectionsMax, most) };
  }

  /** Only CURVE needs loading; it is a separate module. */
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
