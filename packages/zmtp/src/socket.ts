/** What all sockets over ZMTP have in common: binding, connecting, the connections, who was refused, the end. */
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import type { BackoffOptions, Clock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { Entropy, HandshakeRefusal, MemoryBudget, MemoryLevel, RejectReason } from '@proj/transport';
import type { ResolvedPortOptions } from '@proj/transport/adapter';
import { Addresses } from './addresses.js';
import { Connector } from './connector.js';
import type { ConnectorHost } from './connector.js';
import { endpointError, endpointOf, listenOptions, parseEndpoint, removeStalePath } from './endpoint.js';
import { Incoming } from './incoming.js';
import { SocketReader } from './socket-reader.js';
import { Carrier } from './lanes/carrier.js';
import type { Dialer } from './lanes/dialer.js';
import { Connection } from './connection.js';
import { discard, lend } from './bodies.js';
import { allocate, reclaim } from './memory.js';
import type { SocketType } from './engine/commands.js';
import type { ConnectionSettings } from './engine/connection.js';
import type { Failure } from './engine/failure.js';
import { MESSAGE_BYTES, Pipe } from './pipe.js';
import type { Outgoing, PipeLimits } from './pipe.js';
import { CONNECTION_BYTES, slowest } from './relief.js';
import { securityOf } from './security.js';
import type { PlainOptions } from './engine/plain.js';
import type { Turns } from './turn.js';
import type { Watch } from './watch.js';
import type { Wire } from './wire.js';

/** A frame may be so much larger than a message may: up to there it is skipped and rejected, beyond it the connection is cut. */
const FRAME_OVERHEAD = 1024;

/** What all sockets of a transport share. */
export interface World {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly watch: Watch;
  readonly turns: Turns;
  readonly dialer: Dialer;
  /** Whether those who connect may do so by lanes. */
  readonly lanes: boolean;
  readonly backoff: BackoffOptions;
  readonly handshakeMs: number;
  /** Connections that one bound endpoint serves at a time. */
  readonly connectionsMax: number;
  /** And of them from one address. */
  readonly connectionsPerAddressMax: number;
  /** Connections that came to a socket and have not completed their handshake. */
  readonly handshakesMax: number;
  /** Bytes of messages that are not complete, in all connections of a socket. */
  readonly unfinishedMaxBytes: number;
  /** Bytes on their way out through all connections of a router or publisher. */
  readonly unreadMaxBytes: number;
  /** Bytes of subscriptions that one connection may hold. */
  readonly subscriptionBytesMax: number;
  /** Of the process. */
  readonly memory?: MemoryBudget | undefined;
  /** For sockets without CURVE. */
  readonly plain?: PlainOptions | undefined;
  /** Told of each connection that failed; the endpoint is ours. */
  onFailure(endpoint: string, failure: Failure): void;
}

/** Base of all socket kinds. */
export abstract class ZmtpSocket implements ConnectorHost {
  readonly watch: Watch;
  readonly turns: Turns;
  readonly settings: ConnectionSettings;
  readonly backoff: BackoffOptions;
  readonly dialer: Dialer;
  readonly incoming: Incoming;
  readonly memory: MemoryBudget | undefined;
  protected readonly world: World;
  protected readonly options: ResolvedPortOptions;
  /** Of pipes whose peers may all be slow, or mean to be. */
  protected readonly pipeLimits: PipeLimits & { readonly outgoing: Outgoing };
  readonly #servers: Server[] = [];
  readonly #connectors: Connector[] = [];
  /** Each connection and the endpoint of ours it belongs to. */
  readonly #links = new Map<Connection, string>();
  /** Connections under lanes that came to us. */
  readonly #carriers = new Set<Carrier>();
  /** Those that came to us and have not completed their handshake, the oldest first. */
  readonly #shaking = new Set<Connection>();
  readonly #addresses = new Addresses();
  /** Those that have a message for a listener who does not listen. */
  readonly #held = new Set<Connection>();
  /** Memory is full. */
  #isHalted = false;
  #started = false;
  #paused = false;
  #setup: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #onEmpty: () => void = () => undefined;
  readonly #endFollowing: (() => void) | undefined;
  readonly #leaveBudget: (() => void) | undefined;

  constructor(world: World, options: ResolvedPortOptions, socketType: SocketType, identity?: Uint8Array) {
    this.world = world;
    this.watch = world.watch;
    this.turns = world.turns;
    this.backoff = world.backoff;
    this.dialer = world.dialer;
    this.options = options;
    const { highWaterMark, peerQueueMaxBytes, maxMessageBytes } = options;
    this.pipeLimits = {
      highWaterMark,
      peerQueueMaxBytes,
      outgoing: { bytes: 0, messages: 0, maxBytes: world.unreadMaxBytes, memory: world.memory },
    };
    // A single message of any size that is allowed fits.
    this.incoming = new Incoming(Math.max(world.unfinishedMaxBytes, 2 * maxMessageBytes));
    this.memory = world.memory;
    this.#leaveBudget = this.#joinBudget();
    this.settings = {
      socketType,
      identity,
      offersLanes: world.lanes,
      security: securityOf(options.curve, world.plain, allocate),
      maxMessageFrames: options.maxMessageFrames,
      maxMessageBytes: options.maxMessageBytes,
      maxFrameBytes: options.maxMessageBytes + FRAME_OVERHEAD,
      handshakeMs: world.handshakeMs,
      heartbeatMs: options.connectionHeartbeatMs,
      timeoutMs: options.connectionTimeoutMs,
      allocate,
      reuse: { lend, reclaim, discard },
    };
    if (options.curve?.role === 'server')
      this.#endFollowing = options.curve.onAuthorizeChange?.(() => {
        this.recheck();
      });
  }

  /** A pipe for an endpoint to connect to was made. */
  protected abstract onPipe(pipe: Pipe): void;
  /** The connection of this pipe is over. */
  protected abstract onLost(pipe: Pipe): void;
  /** There may be room in this pipe. */
  protected abstract onRoom(pipe: Pipe): void;
  protected abstract onRefused(refusal: HandshakeRefusal): void;
  /** `close` was called: resolves, at the deadline at last, when nothing more will be put into pipes; `now` drops what waits. */
  protected abstract onClosing(deadline: number, now: boolean): Promise<void>;
  abstract onReady(link: Connection, identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  abstract onMessage(link: Connection, frames: Uint8Array[]): void;
  abstract onRejected(link: Connection, reason: RejectReason): void;

  get listening(): boolean {
    return this.#started && !this.#paused;
  }

  /** As `SocketPort.heldBytes`. */
  get heldBytes(): number {
    const { bytes, messages } = this.pipeLimits.outgoing;
    return this.incoming.heldBytes + bytes + messages * MESSAGE_BYTES;
  }

  /** Bytes that wait for the peer of this connection elsewhere than in its pipe. */
  protected waitingFor(_link: Connection): number {
    return 0;
  }

  /** True from the call of `close` on. */
  protected get closing(): boolean {
    return this.#closing !== undefined;
  }

  bind(endpoint: string): Promise<string> {
    // One after the other, so that a path that was just looked at is not taken by a sister meanwhile.
    const bound = this.#setup.then(() => this.#bind(endpoint));
    this.#setup = bound.catch(() => undefined);
    return bound;
  }

  connect(endpoint: string): void {
    this.#assertOpen(endpoint);
    const pipe = new Pipe(true, this.options);
    const connector = new Connector(this, endpoint, parseEndpoint(endpoint, 'connect'), pipe);
    this.#connectors.push(connector);
    this.onPipe(pipe);
  }

  /** Messages may be delivered from now on. */
  protected begin(): void {
    if (this.#started) throw new Error('start: the port was started before');
    this.#started = true;
    if (!this.#paused) this.#release();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    if (this.#started) this.#release();
  }

  /** Ends the connections of those whom `authorize` would not let in any more. */
  recheck(): void {
    const { curve } = this.options;
    if (curve?.role !== 'server' || curve.authorize === undefined) return;
    for (const link of [...this.#links.keys()]) {
      const publicKey = (link.claim?.peer ?? link.pipe?.peer)?.publicKey;
      if (publicKey !== undefined && !curve.authorize(publicKey)) link.destroy();
    }
  }

  close({ lingerMs }: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(lingerMs ?? this.options.lingerMs, lingerMs === 0));
  }

  /** @internal For connectors. */
  random(): number {
    return this.world.entropy.random();
  }

  /** @internal Called by connectors. */
  onOpened(link: Connection): void {
    this.#links.set(link, link.connector?.endpoint ?? '');
  }

  /** @internal Called by links. */
  onMet(link: Connection): void {
    this.#shaking.delete(link);
    if (link.connector !== undefined) this.onConnection(undefined);
  }

  /** @internal Called by links. */
  onHeld(link: Connection): void {
    this.#held.add(link);
  }

  /** @internal Called by links. */
  onSubscription(_link: Connection, _prefix: Uint8Array, _wanted: boolean): void {
    // Of a PUB only.
  }

  /** @internal Called by links. */
  onWritten(pipe: Pipe): void {
    this.onRoom(pipe);
  }

  /** @internal Called by links. */
  onCarrier(link: Connection, socket: SocketReader, chunk: Uint8Array): void {
    const endpoint = this.#links.get(link) ?? '';
    this.#links.delete(link);
    this.#shaking.delete(link);
    this.#addresses.remove(link);
    if (this.world.lanes && this.#closing === undefined) this.#carry(socket, endpoint).onBytes(chunk);
    else socket.destroy();
    this.#checkEmpty();
  }

  /** @internal Called by links. */
  onClosed(link: Connection, failure: Failure | undefined): void {
    if (failure !== undefined) this.world.onFailure(this.#links.get(link) ?? '', failure);
    const isTold = this.#checkRefused(link, failure);
    if (link.connector !== undefined && !link.met && !isTold)
      this.onConnection(failure?.text ?? 'the other side hung up');
    this.#links.delete(link);
    this.#shaking.delete(link);
    this.#addresses.remove(link);
    this.#held.delete(link);
    const { pipe, connector } = link;
    link.abandon();
    if (pipe?.link === link) {
      pipe.detach();
      this.onLost(pipe);
    }
    this.onGone(link);
    connector?.down();
    this.#checkEmpty();
  }

  /** A connection is over, whether it ever stood or not. */
  protected onGone(_link: Connection): void {
    // Nothing to do for those that remember pipes only.
  }

  #joinBudget(): (() => void) | undefined {
    const bytesNow = (): number => this.heldBytes + this.#links.size * CONNECTION_BYTES;
    return this.memory?.add({
      get heldBytes() {
        return bytesNow();
      },
      relieve: (bytes, level) => this.#relieve(bytes, level),
      onLevel: (level) => {
        this.#onLevel(level);
      },
    });
  }

  /** Cuts who does not read, and then, while memory is full, whose messages do not come to an end. */
  #relieve(bytes: number, level: 'tight' | 'full'): number {
    let relieved = 0;
    for (const link of slowest(this.#links.keys(), this.watch.now(), level)) {
      if (relieved >= bytes) return relieved;
      relieved += this.waitingFor(link) + link.cutUnread();
    }
    return level === 'full' && relieved < bytes ? relieved + this.incoming.relieve(bytes - relieved) : relieved;
  }

  /** While memory is full nothing is read. */
  #onLevel(level: MemoryLevel): void {
    const isFull = level === 'full';
    if (isFull === this.#isHalted) return;
    this.#isHalted = isFull;
    for (const link of this.#links.keys())
      if (isFull) link.halt();
      else link.proceed();
  }

  /** As `PortListener.onConnection`. */
  protected onConnection(_reason: string | undefined): void {
    // Nobody asks, but for ports.
  }

  #release(): void {
    for (const link of this.#held) link.listen();
    this.#held.clear();
  }

  /** True for one whose end was told as a refusal. */
  #checkRefused(link: Connection, failure: Failure | undefined): boolean {
    if (this.options.curve === undefined || this.closing || !link.refused) return false;
    const { address } = link;
    this.onRefused({
      reason: failure?.code === 'denied' ? 'key' : 'handshake',
      ...causeOf(failure),
      ...(failure?.publicKey && { publicKey: failure.publicKey }),
      ...(address !== undefined && { address }),
    });
    return true;
  }

  async #bind(endpoint: string): Promise<string> {
    const target = parseEndpoint(endpoint, 'bind');
    this.#assertOpen(endpoint);
    const server = createServer({ noDelay: true }, (socket) => {
      this.#accept(SocketReader.accept(socket), endpoint);
    });
    server.maxConnections = this.world.connectionsMax;
    try {
      const options = await listenOptions(target, () => this.world.entropy.uuid());
      if ('path' in options) await removeStalePath(options.path);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options, resolve);
      });
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
    server.on('error', (error) => {
      this.world.onFailure(endpoint, { code: 'network', text: error.message });
    });
    this.#servers.push(server);
    this.turns.serve();
    return endpointOf(server.address());
  }

  #carry(socket: SocketReader, endpoint: string): Carrier {
    const hasRoom = (): boolean => this.#links.size < this.world.connectionsMax;
    const carrier = new Carrier(socket, 'acceptor', {
      turns: this.turns,
      watch: this.watch,
      idleMs: this.world.handshakeMs,
      onUnread: (bytes) => {
        this.incoming.heldBytes += bytes;
      },
      get hasRoom() {
        return hasRoom();
      },
      onLane: (lane) => {
        this.#accept(lane, endpoint);
      },
      onClosed: () => {
        this.#carriers.delete(carrier);
      },
    });
    this.#carriers.add(carrier);
    return carrier;
  }

  #accept(socket: Wire, endpoint: string): void {
    const { connectionsPerAddressMax, handshakesMax } = this.world;
    const address = socket.remoteAddress;
    if (this.#closing !== undefined) {
      socket.destroy();
      return;
    }
    if (this.#addresses.count(address) >= connectionsPerAddressMax) {
      socket.destroy();
      const text = `${address} has ${connectionsPerAddressMax} connections, as many as one address may have`;
      this.world.onFailure(endpoint, { code: 'too-many', text });
      return;
    }
    if (this.#shaking.size >= handshakesMax) this.#cutOldest();
    const link = new Connection(this, socket);
    this.#links.set(link, endpoint);
    this.#shaking.add(link);
    this.#addresses.add(link, address);
    if (this.#isHalted) link.halt();
  }

  #cutOldest(): void {
    const [oldest] = this.#shaking;
    if (oldest === undefined) return;
    this.#shaking.delete(oldest);
    oldest.cut({
      code: 'too-many',
      text: `${this.world.handshakesMax} handshakes are under way, and it is the oldest`,
    });
  }

  #assertOpen(endpoint: string): void {
    if (this.#closing !== undefined) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
    if (this.#started) throw new Error(`endpoint ${endpoint}: the port was started before`);
  }

  async #close(lingerMs: number, discards: boolean): Promise<void> {
    this.#endFollowing?.();
    const deadline = this.world.clock.now() + lingerMs;
    const ending = this.onClosing(deadline, lingerMs === 0);
    await this.#setup;
    const released = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    await ending;
    await this.#finish(deadline, discards);
    this.#leaveBudget?.();
    await Promise.all(released);
  }

  /**
   * Lets every connection write what waits for it and end, and cuts those that have not at the deadline. What was sent in this turn
   * leaves with it however short the linger is, unless the caller wants it discarded: the last words of who drains come right before.
   */
  async #finish(deadline: number, discards: boolean): Promise<void> {
    const { clock } = this.world;
    for (const connector of this.#connectors) connector.finish();
    for (const link of this.#links.keys()) link.finish();
    if (!discards) await this.turns.written();
    if (deadline <= clock.now()) this.#abort();
    const timer = clock.at(deadline, () => {
      this.#abort();
    });
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      this.#checkEmpty();
    });
    timer.cancel();
  }

  #abort(): void {
    for (const connector of this.#connectors) connector.stop();
    for (const link of this.#links.keys()) link.destroy();
    this.#checkEmpty();
  }

  #checkEmpty(): void {
    if (this.#links.size > 0 || this.#connectors.some(({ idle }) => !idle)) return;
    if (this.#closing !== undefined) for (const carrier of this.#carriers) carrier.finish();
    this.#onEmpty();
  }
}

function causeOf(failure: Failure | undefined): Pick<HandshakeRefusal, 'cause'> {
  if (failure?.expectsOther === true) return { cause: 'server-key' };
  return failure?.code === 'mechanism' ? { cause: 'mechanism' } : {};
}
