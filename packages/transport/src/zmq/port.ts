/** One zeromq.js socket as a {@link SocketPort}: one reader, one outbox, an explicit end. */
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '../errors.js';
import { overLimits } from '../limits.js';
import type { MemoryBudget } from '../memory-budget.js';
import { Outbox } from '../outbox.js';
import type { OutboxHost, SendOutcome } from '../outbox.js';
import { ROUTER_PEER } from '../port.js';
import type { Peer, PortListener, SocketPort, UndeliverableReason } from '../port.js';
import type { ResolvedPortOptions } from '../port-options.js';
import type { CurveGuard } from './curve-guard.js';
import { BoundEndpoints } from './endpoints.js';
import { untilLetGo } from './let-go.js';
import { MessageReader } from './reader.js';
import type { OpenSocket, ZmqSocket } from './socket.js';

/** A socket of either kind; `routes` marks a router, whose messages begin with a routing id. */
export class ZmqPort implements SocketPort, OutboxHost {
  readonly clock: Clock;
  readonly memory: MemoryBudget | undefined;
  readonly #leaveBudget: (() => void) | undefined;
  readonly #socket: ZmqSocket;
  readonly #routes: boolean;
  readonly #goneNotice: Buffer | undefined;
  readonly #options: ResolvedPortOptions;
  readonly #outbox: Outbox;
  readonly #endpoints: BoundEndpoints;
  readonly #guard: CurveGuard | undefined;
  readonly #reader: MessageReader;
  /** @internal Called by the outbox; the listener's own callback, if any. */
  onSent: OutboxHost['onSent'];
  #listener: PortListener | undefined;
  #reading: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isPaused = false;
  /** Memory is full. */
  #isHalted = false;
  /** False once `close` was called or the socket has failed. */
  #live = true;

  constructor(
    { socket, goneNotice }: OpenSocket,
    routes: boolean,
    options: ResolvedPortOptions,
    clock: Clock,
    guard?: CurveGuard,
    memory?: MemoryBudget,
  ) {
    this.clock = clock;
    this.#socket = socket;
    this.#routes = routes;
    this.#goneNotice = goneNotice;
    this.#options = options;
    this.#guard = guard;
    this.memory = memory;
    this.#outbox = new Outbox(options, this);
    this.#reader = new MessageReader(socket, clock);
    this.#endpoints = new BoundEndpoints(
      socket,
      clock,
      (endpoint) => {
        if (!this.#live) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
        if (this.#listener !== undefined) throw new Error(`endpoint ${endpoint}: bind and connect before start()`);
      },
      guard,
    );
    this.#leaveBudget = this.#joinBudget();
  }

  bind(endpoint: string): Promise<string> {
    return this.#endpoints.bind(endpoint);
  }

  connect(endpoint: string): void {
    this.#endpoints.connect(endpoint);
  }

  start(listener: PortListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was already started');
    this.#listener = listener;
    this.onSent = listener.onSent?.bind(listener);
    if (!this.#live) return;
    this.#guard?.start(listener);
    this.#reading = this.#reader.read(
      (frames) => {
        this.#take(frames, listener);
      },
      (error) => {
        this.#break(error);
      },
    );
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#listener === undefined) throw new Error('send: call start() first');
    this.#outbox.send(this.#routes ? peer : ROUTER_PEER, frames);
  }

  pause(): void {
    this.#isPaused = true;
    this.#reader.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isHalted) this.#reader.resume();
  }

  /** Messages waiting here; libzmq does not report what it holds itself. */
  get heldBytes(): number {
    return this.#outbox.heldBytes;
  }

  get pending(): number {
    return this.#outbox.pending;
  }

  pendingFor(peer: Peer): number {
    return this.#outbox.pendingFor(this.#routes ? peer : ROUTER_PEER);
  }

  close({ lingerMs = this.#options.lingerMs }: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(lingerMs));
  }

  /**
   * @internal Called by the outbox. A router with a send timeout of 0 has finished with the message when the call returns, so outcomes are
   * reported in order; a dealer has one peer, and so one send at a time.
   */
  transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    try {
      const message = this.#routes ? addressed(peer, frames) : frames;
      this.#socket.send(message as Uint8Array[]).then(this.#onTaken, this.#onRefused);
    } catch (error) {
      // Thrown synchronously only for our own mistakes: two sends of a dealer at once, or one on a closed socket.
      this.#break(error);
    }
    return undefined;
  }

  /** @internal Called by the outbox. */
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others: number): void {
    this.#listener?.onUndeliverable(peer, frames, reason, others);
  }

  readonly #onTaken = (): void => {
    this.#outbox.settle('sent');
  };

  readonly #onRefused = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EHOSTUNREACH') this.#outbox.settle('unreachable');
    else if (error.code === 'EAGAIN') this.#outbox.settle('congested');
    else this.#break(error);
  };

  #joinBudget(): (() => void) | undefined {
    const outbox = this.#outbox;
    return this.memory?.add({
      get heldBytes() {
        return outbox.heldBytes;
      },
      relieve: (bytes) => outbox.relieve(bytes),
      onLevel: (level) => {
        this.#isHalted = level === 'full';
        if (this.#isHalted) this.#reader.pause();
        else if (!this.#isPaused) this.#reader.resume();
      },
    });
  }

  #take(frames: Uint8Array[], listener: PortListener): void {
    if (this.memory !== undefined) for (const { length } of frames) this.memory.moved(length);
    const peer = this.#routes ? takePeer(frames) : ROUTER_PEER;
    if (frames.length === 1 && this.#isGoneNotice(frames[0])) {
      this.#outbox.forget(peer);
      listener.onPeerGone(peer);
      return;
    }
    if (this.#outbox.congestedPeers > 0) this.#outbox.heard(peer);
    const reason = overLimits(frames, this.#options);
    if (reason === undefined) listener.onMessage(peer, frames);
    else listener.onRejected(peer, reason);
  }

  #isGoneNotice(frame: Uint8Array | undefined): boolean {
    return frame !== undefined && this.#goneNotice !== undefined && this.#goneNotice.equals(frame);
  }

  #break(error: unknown): void {
    if (!this.#live) return;
    this.#live = false;
    this.#reader.stop();
    this.#outbox.stop();
    this.#listener?.onBroken(error instanceof Error ? error : new Error(String(error)));
  }

  async #close(lingerMs: number): Promise<void> {
    this.#live = false;
    this.#guard?.stop();
    this.#reader.stop();
    if (lingerMs === 0) this.#outbox.stop();
    const deadline = this.clock.now() + lingerMs;
    await this.#endpoints.settled();
    await this.#outbox.close(deadline);
    this.#socket.linger = Math.max(0, Math.ceil(deadline - this.clock.now()));
    // A guard reads the events itself, to their end.
    const letGo = this.#socket.linger > 0 && this.#guard === undefined ? untilLetGo(this.#socket) : undefined;
    this.#socket.close();
    await this.#reading;
    await this.#guard?.close();
    this.#leaveBudget?.();
    await letGo;
    await this.#endpoints.released();
  }
}

/** What `toString('latin1')` ends up calling, without looking up the encoding's name. */
interface Latin1 {
  latin1Slice(): string;
}

function takePeer(frames: Uint8Array[]): Peer {
  const id = frames.shift() as Buffer & Latin1;
  return { key: id.latin1Slice(), id };
}

/** A loop costs half as much as a spread, once per message. */
function addressed(peer: Peer, frames: readonly Uint8Array[]): Uint8Array[] {
  const message = new Array<Uint8Array>(frames.length + 1);
  message[0] = peer.id;
  for (let index = 0; index < frames.length; index++) message[index + 1] = frames[index] as Uint8Array;
  return message;
}
