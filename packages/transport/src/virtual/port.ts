/** What virtual routers and dealers have in common: limits on what is received, the outbox, and how a socket ends. */
import type { Clock } from '@proj/heartbeat';
import { Outbox } from '../outbox.js';
import type { SendOutcome } from '../outbox.js';
import { resolvePortOptions } from '../port-options.js';
import type { ResolvedPortOptions } from '../port-options.js';
import type { Peer, PortListener, PortOptions, RejectReason, SocketPort, UndeliverableReason } from '../port.js';
import type { Connection, ConnectionEnd, ConnectionOwner } from './connection.js';
import type { MessageEvent, NetworkEvent } from './events.js';
import type { Link } from './link.js';
import type { Process, ProcessResource } from './process.js';

/** The network as its sockets see it. */
export interface Hub {
  readonly clock: Clock;
  /** Whether sockets hear of lost connections (`onPeerGone`). */
  readonly disconnectNotices: boolean;
  readonly reconnectIntervalMs: number;
  /** Files the port under its endpoint, wildcard port resolved. Throws `ADDRESS_IN_USE`. */
  bind(endpoint: string, port: RouterSide): string;
  unbind(port: RouterSide): void;
  lookup(endpoint: string): RouterSide | undefined;
  link(a: Process, b: Process): Link;
  connect(dealer: ConnectionOwner, router: ConnectionOwner): Connection;
  /** To be called by an end that is done with the connection; it is dropped when both are. */
  forget(connection: Connection): void;
  record(event: NetworkEvent): void;
}

/** A bound socket as dealers see it. */
export interface RouterSide extends ConnectionOwner {
  /** Takes in the connection of a dealer that announces this routing id, or lets us choose. */
  accept(connection: Connection, routingId: Uint8Array | undefined): void;
}

/** How a socket leaves its connections: in good order, dropping what is under way, or without a word. */
export type Farewell = 'close' | 'abort' | 'vanish';

/** Base of the two socket kinds. */
export abstract class VirtualPort implements SocketPort, ConnectionOwner, ProcessResource {
  readonly process: Process;
  protected readonly hub: Hub;
  protected readonly options: ResolvedPortOptions;
  protected readonly outbox: Outbox;
  protected abstract readonly socket: MessageEvent['socket'];
  readonly #number: number;
  #listener: PortListener | undefined;
  #closing: Promise<void> | undefined;

  constructor(hub: Hub, process: Process, options: PortOptions) {
    this.hub = hub;
    this.process = process;
    this.options = resolvePortOptions(options);
    this.#number = ++process.socketsMade;
    this.outbox = new Outbox(this.options, {
      clock: process.clock,
      transmit: (peer, frames) => this.transmit(peer, frames),
      onUndeliverable: (peer, frames, reason) => {
        this.#reportUndeliverable(peer, frames, reason);
      },
    });
    if (process.state !== 'dead') process.resources.add(this);
  }

  abstract bind(endpoint: string): Promise<string>;
  abstract connect(endpoint: string): void;
  abstract onConnectionLost(end: ConnectionEnd): void;
  abstract onRoom(end: ConnectionEnd): void;
  abstract wake(): void;
  /** The peer at the other end, as this socket names it; `undefined` when the listener must not hear of it. */
  protected abstract peerOf(end: ConnectionEnd): Peer | undefined;
  protected abstract transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome;
  /** Called when the socket begins to close. */
  protected abstract stopAccepting(): void;
  /** Resolves when everything is on its way, or at the deadline. */
  protected abstract handOver(deadline: number): Promise<void>;
  /** Leaves all connections. */
  protected abstract disconnect(farewell: Farewell): void;

  get pending(): number {
    return this.outbox.pending;
  }

  get highWaterMark(): number {
    return this.options.highWaterMark;
  }

  get connectionHeartbeatMs(): number {
    return this.options.connectionHeartbeatMs;
  }

  get connectionTimeoutMs(): number {
    return this.options.connectionTimeoutMs;
  }

  get reading(): boolean {
    return this.#listener !== undefined || this.#closing !== undefined;
  }

  pendingFor(peer: Peer): number {
    return this.outbox.pendingFor(peer);
  }

  start(listener: PortListener): void {
    if (this.#listener !== undefined) throw new Error('a port is started once');
    this.#listener = listener;
    this.wake();
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.process.state === 'dead') return;
    if (this.#closing === undefined) this.#record('sent', peer, frames);
    this.outbox.send(peer, frames);
  }

  onFrames(end: ConnectionEnd, frames: readonly Uint8Array[]): void {
    const peer = this.peerOf(end);
    if (peer === undefined || this.#closing !== undefined) return;
    const { maxMessageFrames, maxMessageBytes } = this.options;
    let bytes = 0;
    for (const frame of frames) {
      bytes += frame.length;
      if (frame.length > maxMessageBytes) {
        end.abort();
        this.onConnectionLost(end);
        return;
      }
    }
    if (frames.length > maxMessageFrames) this.#reject(peer, frames, 'too-many-frames');
    else if (bytes > maxMessageBytes) this.#reject(peer, frames, 'too-large');
    else {
      this.#record('delivered', peer, frames);
      this.#listener?.onMessage(peer, [...frames]);
    }
  }

  close(options: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#leave(options.lingerMs ?? this.options.lingerMs));
  }

  vanish(silent: boolean): void {
    this.#closing ??= Promise.resolve();
    this.outbox.stop();
    this.stopAccepting();
    this.disconnect(silent ? 'vanish' : 'abort');
  }

  /** The peer's connection ended. Where that is not noticed, the next attempt to send to it finds out. */
  protected reportGone(peer: Peer): void {
    if (!this.hub.disconnectNotices || this.#closing !== undefined) return;
    this.outbox.forget(peer);
    this.#listener?.onPeerGone(peer);
  }

  async #leave(lingerMs: number): Promise<void> {
    this.stopAccepting();
    if (lingerMs === 0) this.outbox.stop();
    else {
      const deadline = this.process.clock.now() + lingerMs;
      await this.outbox.close(deadline);
      await this.handOver(deadline);
    }
    this.disconnect(lingerMs === 0 ? 'abort' : 'close');
    this.process.resources.delete(this);
  }

  #reportUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): void {
    this.#record('undeliverable', peer, frames);
    this.#listener?.onUndeliverable(peer, frames, reason);
  }

  #reject(peer: Peer, frames: readonly Uint8Array[], reason: RejectReason): void {
    this.#record('rejected', peer, frames);
    this.#listener?.onRejected(peer, reason);
  }

  #record(kind: MessageEvent['kind'], peer: Peer, frames: readonly Uint8Array[]): void {
    const { process, socket } = this;
    this.hub.record({ kind, process: process.name, socket, socketNumber: this.#number, peer, frames });
  }
}
