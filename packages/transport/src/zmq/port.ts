/** One zeromq.js socket as a {@link SocketPort}: one reader, one outbox, an explicit end. */
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '../errors.js';
import { Outbox } from '../outbox.js';
import type { OutboxHost, SendOutcome } from '../outbox.js';
import { ROUTER_PEER } from '../port.js';
import type { Peer, PortListener, RejectReason, SocketPort, UndeliverableReason } from '../port.js';
import type { ResolvedPortOptions } from '../port-options.js';
import { checkEndpoint, endpointError, isIpv6, isServed, refuseServedPath } from './endpoint.js';
import type { OpenSocket, ZmqSocket } from './socket.js';

/**
 * The reader lets the event loop turn after so many messages or milliseconds: while messages are ready zeromq.js would run
 * timers only once in 512, and heartbeats would be late.
 */
const MESSAGES_PER_TURN = 64;
const MS_PER_TURN = 2;

/** How often, and in what distance, a closed port looks whether libzmq has given an endpoint back. */
const RELEASE_CHECKS = 100;
const RELEASE_CHECK_MS = 10;

/** A socket of either kind; `routes` tells a router, whose messages begin with a routing id. */
export class ZmqPort implements SocketPort, OutboxHost {
  readonly clock: Clock;
  readonly #socket: ZmqSocket;
  readonly #routes: boolean;
  readonly #goneNotice: Buffer | undefined;
  readonly #options: ResolvedPortOptions;
  readonly #outbox: Outbox;
  readonly #bound: string[] = [];
  /** @internal Called by the outbox; the listener's own, if it has one. */
  onSent: OutboxHost['onSent'];
  #listener: PortListener | undefined;
  #setup: Promise<unknown> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  /** Where the reader waits while paused. */
  #gate: Gate | undefined;
  #closing: Promise<void> | undefined;
  /** False once `close` was called or the socket has failed. */
  #live = true;

  constructor({ socket, goneNotice }: OpenSocket, routes: boolean, options: ResolvedPortOptions, clock: Clock) {
    this.clock = clock;
    this.#socket = socket;
    this.#routes = routes;
    this.#goneNotice = goneNotice;
    this.#options = options;
    this.#outbox = new Outbox(options, this);
  }

  bind(endpoint: string): Promise<string> {
    // One after the other: libzmq's socket is out of bounds for everybody while it binds.
    const bound = this.#setup.then(() => this.#bind(endpoint));
    this.#setup = bound.catch(() => undefined);
    return bound;
  }

  connect(endpoint: string): void {
    this.#prepare(endpoint);
    try {
      this.#socket.connect(endpoint);
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
  }

  start(listener: PortListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was started before');
    this.#listener = listener;
    this.onSent = listener.onSent?.bind(listener);
    if (this.#live) this.#reading = this.#read(listener);
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#listener === undefined) throw new Error('send: the port was not started');
    this.#outbox.send(this.#routes ? peer : ROUTER_PEER, frames);
  }

  pause(): void {
    if (this.#live) this.#gate ??= new Gate();
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
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

  /** @internal Called by the outbox. */
  transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    try {
      const message = this.#routes ? addressed(peer, frames) : frames;
      this.#socket.send(message as Uint8Array[]).then(this.#onTaken, this.#onRefused);
    } catch (error) {
      // Thrown in the call itself only for what we did wrong: two sends at once, or one on a closed socket.
      this.#break(error);
    }
    return undefined;
  }

  /** @internal Called by the outbox. */
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): void {
    this.#listener?.onUndeliverable(peer, frames, reason);
  }

  readonly #onTaken = (): void => {
    this.#outbox.settle('sent');
  };

  readonly #onRefused = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EHOSTUNREACH') this.#outbox.settle('unreachable');
    else if (error.code === 'EAGAIN') this.#outbox.settle('congested');
    else this.#break(error);
  };

  async #bind(endpoint: string): Promise<string> {
    this.#prepare(endpoint);
    await refuseServedPath(endpoint);
    this.#assertLive(endpoint);
    try {
      await this.#socket.bind(endpoint);
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
    const bound = this.#socket.lastEndpoint ?? endpoint;
    this.#bound.push(bound);
    return bound;
  }

  #prepare(endpoint: string): void {
    checkEndpoint(endpoint);
    this.#assertLive(endpoint);
    if (this.#listener !== undefined) throw new Error(`endpoint ${endpoint}: the port was started before`);
    if (isIpv6(endpoint)) this.#socket.ipv6 = true;
  }

  #assertLive(endpoint: string): void {
    if (!this.#live) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
  }

  async #read(listener: PortListener): Promise<void> {
    let handled = 0;
    let turnedAt = this.clock.now();
    while (!this.#isOver()) {
      if (this.#gate !== undefined) {
        await this.#gate.opened;
        continue;
      }
      let frames: Uint8Array[];
      try {
        frames = await this.#socket.receive();
      } catch (error) {
        // A receive that ends because the socket was closed reports EAGAIN.
        this.#break(error);
        return;
      }
      if (this.#isOver()) return;
      this.#take(frames, listener);
      if (++handled < MESSAGES_PER_TURN && this.clock.now() - turnedAt < MS_PER_TURN) continue;
      await turn();
      handled = 0;
      turnedAt = this.clock.now();
    }
  }

  /** A method, since the field changes under a reader that awaits. */
  #isOver(): boolean {
    return !this.#live;
  }

  #take(frames: Uint8Array[], listener: PortListener): void {
    const peer = this.#routes ? takePeer(frames) : ROUTER_PEER;
    if (frames.length === 1 && this.#isGoneNotice(frames[0])) {
      this.#outbox.forget(peer);
      listener.onPeerGone(peer);
      return;
    }
    if (this.#outbox.congestedPeers > 0) this.#outbox.resume(peer);
    const reason = this.#judge(frames);
    if (reason === undefined) listener.onMessage(peer, frames);
    else listener.onRejected(peer, reason);
  }

  #isGoneNotice(frame: Uint8Array | undefined): boolean {
    return frame !== undefined && this.#goneNotice !== undefined && this.#goneNotice.equals(frame);
  }

  #judge(frames: readonly Uint8Array[]): RejectReason | undefined {
    if (frames.length === 0) return 'no-frames';
    if (frames.length > this.#options.maxMessageFrames) return 'too-many-frames';
    let bytes = 0;
    for (const frame of frames) bytes += frame.length;
    return bytes > this.#options.maxMessageBytes ? 'too-large' : undefined;
  }

  #break(error: unknown): void {
    if (!this.#live) return;
    this.#live = false;
    this.#outbox.stop();
    this.#listener?.onBroken(error instanceof Error ? error : new Error(String(error)));
  }

  async #close(lingerMs: number): Promise<void> {
    this.#live = false;
    this.resume();
    if (lingerMs === 0) this.#outbox.stop();
    const deadline = this.clock.now() + lingerMs;
    await this.#setup;
    await this.#outbox.close(deadline);
    this.#socket.linger = Math.max(0, Math.ceil(deadline - this.clock.now()));
    this.#socket.close();
    await this.#reading;
    await Promise.all(this.#bound.map((endpoint) => this.#released(endpoint)));
  }

  /** libzmq ends a listener some time after its socket was closed. Bounded, since the endpoint may have a new owner by then. */
  async #released(endpoint: string): Promise<void> {
    for (let check = 0; check < RELEASE_CHECKS; check++) {
      if (!(await isServed(endpoint))) return;
      await new Promise<void>((resolve) => this.clock.at(this.clock.now() + RELEASE_CHECK_MS, resolve));
    }
  }
}

/** Something to wait for. */
class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

/** What `toString('latin1')` ends in, without the search for the encoding's name. */
interface Latin1 {
  latin1Slice(): string;
}

function takePeer(frames: Uint8Array[]): Peer {
  const id = frames.shift() as Buffer & Latin1;
  return { key: id.latin1Slice(), id };
}

/** In a loop: at half the cost of a spread, once per message. */
function addressed(peer: Peer, frames: readonly Uint8Array[]): Uint8Array[] {
  const message = new Array<Uint8Array>(frames.length + 1);
  message[0] = peer.id;
  for (let index = 0; index < frames.length; index++) message[index + 1] = frames[index] as Uint8Array;
  return message;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
