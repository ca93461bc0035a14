/** An endpoint that a socket connects to, in the background and again whenever the connection ends. */
import type { Timer } from '@proj/heartbeat';
import { Fifo } from '../fifo.js';
import type { CurveOptions, HandshakeRefusal } from '../port.js';
import type { ConnectionEnd, ConnectionOwner, MessageTarget } from './connection.js';
import { shakeHands } from './curve.js';
import type { SocketKind } from './events.js';
import type { BoundSide, Farewell, Hub } from './hub.js';

/** The socket as its connector needs it. */
export interface ConnectorOwner extends ConnectionOwner {
  readonly hub: Hub;
  readonly socket: SocketKind;
  /** The routing id to announce. */
  readonly routingId: Uint8Array | undefined;
  readonly curve: CurveOptions | undefined;
  /** A handshake failed; `undefined` if this side does not notice. */
  onRefused(refusal: HandshakeRefusal | undefined): void;
  /** As `PortListener.onConnection`. */
  onConnection(reason: string | undefined): void;
  /** The connection is established, and the waiting messages are under way. */
  onConnected(connector: VirtualConnector, end: ConnectionEnd, routingId: Uint8Array | undefined): void;
}

/** One endpoint: at most one connection at a time, and the messages that wait for it. */
export class VirtualConnector implements MessageTarget {
  readonly #owner: ConnectorOwner;
  readonly #endpoint: string;
  /** Taken by the transport but not on a connection yet; like libzmq's pipe, it survives the loss of a connection. */
  readonly #queue = new Fifo<readonly Uint8Array[]>();
  #end: ConnectionEnd | undefined;
  #attempt: Timer | undefined;
  #onHandedOver: (() => void) | undefined;

  /** Tries at once, in a turn of its own. */
  constructor(owner: ConnectorOwner, endpoint: string) {
    this.#owner = owner;
    this.#endpoint = endpoint;
    this.#tryAfter(0);
  }

  /** Its connection, while there is one. */
  get end(): ConnectionEnd | undefined {
    return this.#end;
  }

  send(frames: readonly Uint8Array[]): boolean {
    if (this.#queue.length === 0 && this.#end?.send(frames) === true) return true;
    if (this.#queue.length >= this.#owner.highWaterMark) return false;
    this.#queue.push(frames);
    return true;
  }

  /** Sends waiting messages while they fit; true if there is room for more. */
  flush(): boolean {
    for (let next = this.#queue.peek(); next !== undefined && this.#end?.send(next) === true; next = this.#queue.peek())
      this.#queue.shift();
    if (this.#queue.length === 0) this.#onHandedOver?.();
    return this.#queue.length < this.#owner.highWaterMark;
  }

  onConnectionLost(): void {
    this.#end = undefined;
    this.#retry();
  }

  wake(): void {
    this.#end?.wake();
  }

  /** Resolves when everything has been sent, or at the deadline. */
  handOver(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#owner.process.clock.at(deadline, resolve);
      this.#onHandedOver = () => {
        timer.cancel();
        resolve();
      };
      if (this.#queue.length === 0) this.#onHandedOver();
    });
  }

  /** Drops its connection and the endpoint. */
  disconnect(farewell: Farewell): void {
    this.#attempt?.cancel();
    if (this.#end === undefined) return;
    this.#end[farewell]();
    this.#owner.hub.forget(this.#end.connection);
  }

  /** libzmq waits between one and two intervals. */
  #retry(): void {
    const { hub, process } = this.#owner;
    this.#tryAfter(hub.reconnectIntervalMs * (1 + process.random.next()));
  }

  #tryAfter(ms: number): void {
    const { hub, process } = this.#owner;
    this.#attempt = process.clock.at(process.clock.now() + ms, () => {
      const bound = hub.lookup(this.#endpoint);
      if (bound === undefined) this.#fail(`connect ECONNREFUSED ${this.#endpoint}`);
      else this.#shakeHands(bound);
    });
  }

  #fail(reason: string): void {
    this.#retry();
    this.#owner.onConnection(reason);
  }

  /** The handshake takes one trip over the link and succeeds if the other side can still answer by then. */
  #shakeHands(bound: BoundSide): void {
    const { hub, process, routingId } = this.#owner;
    const link = hub.link(process, bound.process);
    this.#attempt = process.clock.at(process.clock.now() + link.delay(process.random), () => {
      const present = hub.lookup(this.#endpoint) === bound && bound.process.state === 'running';
      if (!present || link.partitioned || !isMatch(this.#owner.socket, bound.socket)) {
        this.#fail('no handshake');
        return;
      }
      const failed = shakeHands(this.#owner.curve, bound.curve);
      if (failed !== undefined) {
        this.#retry();
        bound.onRefused(failed.passive);
        this.#owner.onRefused(failed.active);
        return;
      }
      const { active, passive } = hub.connect(this.#owner, bound);
      this.#end = active;
      bound.accept(passive, routingId);
      this.#owner.onConnection(undefined);
      this.#owner.onConnected(this, active, bound.routingId);
    });
  }
}

/** Publishers talk only to subscribers, as in ZMTP's handshake. */
function isMatch(active: SocketKind, passive: SocketKind): boolean {
  const pubSub = [active, passive].filter((kind) => kind === 'publisher' || kind === 'subscriber');
  return pubSub.length === 0 || (pubSub.length === 2 && active !== passive);
}
