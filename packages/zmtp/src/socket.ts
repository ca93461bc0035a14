/** What all ZMTP sockets share: binding, connecting, connections, refused handshakes, closing. */
import type { BackoffOptions } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { HandshakeRefusal, MemoryBudget, RejectReason } from '@proj/transport';
import type { ResolvedPortOptions } from '@proj/transport/adapter';
import { Connection } from './connection.js';
import { Connector } from './connector.js';
import type { ConnectorHost } from './connector.js';
import { parseEndpoint } from './endpoint.js';
import type { SocketType } from './engine/framing/commands.js';
import type { ConnectionSettings } from './engine/events.js';
import type { Failure } from './engine/failure.js';
import { allocate } from './fast.js';
import { Incoming } from './incoming.js';
import type { Dialer } from './lanes/dialer.js';
import { Listeners } from './listeners.js';
import type { ListenersHost } from './listeners.js';
import type { NodeSocket } from './node-socket.js';
import { MESSAGE_BYTES, Pipe } from './pipe.js';
import type { Outgoing, PipeLimits } from './pipe.js';
import { Relief } from './relief.js';
import type { ReliefHost } from './relief.js';
import { securityOf } from './security.js';
import type { Turns } from './turn.js';
import type { Watch } from './watch.js';
import type { Wire } from './wire.js';
import type { World } from './world.js';

/** How much larger than a message a frame may be. Up to this size it is skipped and rejected; beyond it the connection is cut. */
const FRAME_OVERHEAD = 1024;

/** Base of all socket kinds. */
export abstract class ZmtpSocket implements ConnectorHost, ListenersHost, ReliefHost {
  readonly watch: Watch;
  readonly turns: Turns;
  readonly settings: ConnectionSettings;
  readonly backoff: BackoffOptions;
  readonly dialer: Dialer;
  readonly incoming: Incoming;
  readonly memory: MemoryBudget | undefined;
  protected readonly world: World;
  protected readonly options: ResolvedPortOptions;
  /** For pipes whose peers may all be slow, or malicious. */
  protected readonly pipeLimits: PipeLimits & { readonly outgoing: Outgoing };
  readonly #listeners: Listeners;
  readonly #connectors: Connector[] = [];
  /** Each connection and the local endpoint it belongs to. */
  readonly #links = new Map<Connection, string>();
  readonly #relief: Relief;
  /** Connections with a message, while the listener is paused. */
  readonly #held = new Set<Connection>();
  #started = false;
  #paused = false;
  #setup: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #onEmpty: () => void = () => undefined;
  readonly #unsubscribe: (() => void) | undefined;

  constructor(world: World, options: ResolvedPortOptions, socketType: SocketType, identity?: Uint8Array) {
    const { highWaterMark, peerQueueMaxBytes, maxMessageFrames, maxMessageBytes, curve } = options;
    this.world = world;
    this.watch = world.watch;
    this.turns = world.turns;
    this.backoff = world.backoff;
    this.dialer = world.dialer;
    this.memory = world.memory;
    this.options = options;
    this.pipeLimits = {
      highWaterMark,
      peerQueueMaxBytes,
      outgoing: {
        bytes: 0,
        messages: 0,
        maxBytes: world.unreadMaxBytes,
        memory: world.memory,
        settle: world.reuse?.settle,
      },
    };
    // A single message of any allowed size fits.
    this.incoming = new Incoming(Math.max(world.unfinishedMaxBytes, 2 * maxMessageBytes));
    this.#listeners = new Listeners(world, this);
    this.#relief = new Relief(world.memory, this, this.#links);
    this.settings = {
      socketType,
      identity,
      offersLanes: world.lanes,
      security: securityOf(curve, world.plain, allocate),
      maxMessageFrames,
      maxMessageBytes,
      maxFrameBytes: maxMessageBytes + FRAME_OVERHEAD,
      handshakeMs: world.handshakeMs,
      heartbeatMs: options.connectionHeartbeatMs,
      timeoutMs: options.connectionTimeoutMs,
      allocate,
      reuse: world.reuse,
    };
    if (curve?.role === 'server')
      this.#unsubscribe = curve.onAuthorizeChange?.(() => {
        this.recheck();
      });
  }

  abstract onReady(link: Connection, identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  protected abstract onRefused(refusal: HandshakeRefusal): void;
  onMessage(_link: Connection, _frames: Uint8Array[]): void {}
  onRejected(_link: Connection, _reason: RejectReason): void {}
  onSubscription(_link: Connection, _prefix: Uint8Array, _wanted: boolean): void {}
  /** As `PortListener.onConnection`. */
  protected onConnection(_reason: string | undefined): void {}
  /** A pipe was created for an endpoint that the socket connects to. */
  protected onPipe(_pipe: Pipe): void {}
  /** This pipe may have room. */
  protected onRoom(_pipe: Pipe): void {}
  /** The connection of this pipe has ended. */
  protected onLost(_pipe: Pipe): void {}
  /** A connection has ended, whether or not its handshake completed. */
  protected onGone(_link: Connection): void {}

  /** `close` was called. Resolves when nothing more will be put into pipes, at the latest at the deadline; `now` drops what is waiting. */
  protected onClosing(_deadline: number, _now: boolean): Promise<void> {
    return Promise.resolve();
  }

  get listening(): boolean {
    return this.#started && !this.#paused;
  }

  /** As `SocketPort.heldBytes`. */
  get heldBytes(): number {
    const { bytes, messages } = this.pipeLimits.outgoing;
    return this.incoming.heldBytes + bytes + messages * MESSAGE_BYTES;
  }

  waitingFor(_link: Connection): number {
    return 0;
  }

  get count(): number {
    return this.#links.size;
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  bind(endpoint: string): Promise<string> {
    // One after the other: another bind must not take a path that was just checked.
    const bound = this.#setup.then(() => {
      const target = parseEndpoint(endpoint, 'bind');
      this.#assertOpen(endpoint);
      return this.#listeners.bind(endpoint, target);
    });
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
    if (this.#started) throw new Error('start: the port was already started');
    this.#started = true;
    this.#deliverHeld();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliverHeld();
  }

  /** Ends the connections of peers that `authorize` no longer admits. */
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

  random(): number {
    return this.world.entropy.random();
  }

  onAccepted(wire: Wire, endpoint: string): Connection {
    const link = new Connection(this, wire);
    this.#links.set(link, endpoint);
    if (this.#relief.isHalted) link.halt();
    return link;
  }

  onOpened(link: Connection): void {
    this.#links.set(link, link.connector?.endpoint ?? '');
  }

  onMet(link: Connection): void {
    this.#listeners.onMet(link);
    if (link.connector !== undefined) this.onConnection(undefined);
  }

  onHeld(link: Connection): void {
    this.#held.add(link);
  }

  onWritten(pipe: Pipe): void {
    this.onRoom(pipe);
  }

  onCarrier(link: Connection, socket: NodeSocket, chunk: Uint8Array): void {
    const endpoint = this.#links.get(link) ?? '';
    this.#links.delete(link);
    this.#listeners.forget(link);
    this.#listeners.carry(socket, endpoint, chunk);
    this.#checkEmpty();
  }

  onClosed(link: Connection, failure: Failure | undefined): void {
    if (failure !== undefined) this.world.onFailure(this.#links.get(link) ?? '', failure);
    const isTold = this.#checkRefused(link, failure);
    if (link.connector !== undefined && !link.met && !isTold)
      this.onConnection(failure?.text ?? 'the other side closed the connection');
    this.#links.delete(link);
    this.#listeners.forget(link);
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

  #deliverHeld(): void {
    if (!this.listening) return;
    for (const link of this.#held) link.listen();
    this.#held.clear();
  }

  /** True for a connection whose end was reported as a refusal. */
  #checkRefused(link: Connection, failure: Failure | undefined): boolean {
    if (this.options.curve === undefined || this.isClosing || !link.refused) return false;
    const { address } = link;
    this.onRefused({
      reason: failure?.code === 'denied' ? 'key' : 'handshake',
      ...causeOf(failure),
      ...(failure?.publicKey && { publicKey: failure.publicKey }),
      ...(address !== undefined && { address }),
    });
    return true;
  }

  #assertOpen(endpoint: string): void {
    if (this.isClosing) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
    if (this.#started) throw new Error(`endpoint ${endpoint}: bind and connect before start()`);
  }

  async #close(lingerMs: number, discards: boolean): Promise<void> {
    this.#unsubscribe?.();
    const deadline = this.world.clock.now() + lingerMs;
    const ending = this.onClosing(deadline, lingerMs === 0);
    await this.#setup;
    const released = this.#listeners.close();
    await ending;
    await this.#finish(deadline, discards);
    this.#relief.leave();
    await released;
  }

  /**
   * Lets every connection write what is waiting and end; cuts the rest at the deadline. Messages sent in this turn still go out, however short
   * the linger, unless the caller discards them: a drain sends its last messages right before closing.
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
    if (this.isClosing) this.#listeners.finishCarriers();
    this.#onEmpty();
  }
}

function causeOf(failure: Failure | undefined): Pick<HandshakeRefusal, 'cause'> {
  if (failure?.expectsOther === true) return { cause: 'server-key' };
  return failure?.code === 'mechanism' ? { cause: 'mechanism' } : {};
}
