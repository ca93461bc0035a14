/** What virtual routers and dealers share: binding, connecting, limits on received messages, outbox, closing. */
import { Outbox } from '../outbox.js';
import type { OutboxHost, SendOutcome } from '../outbox.js';
import { ROUTER_PEER } from '../port.js';
import type { HandshakeRefusal, Peer, PortListener, PortOptions, RejectReason, SocketPort } from '../port.js';
import type { ConnectionEnd } from './connection.js';
import { VirtualConnector } from './connector.js';
import { checkEndpoint } from './endpoint.js';
import type { BoundSide, Farewell, Hub } from './hub.js';
import type { Process } from './process.js';
import { VirtualSocket } from './socket.js';

/** Base of both socket kinds. */
export abstract class VirtualPort extends VirtualSocket<PortListener> implements SocketPort, BoundSide {
  protected readonly outbox: Outbox;
  /** One per endpoint this socket connects to. */
  protected readonly connectors: VirtualConnector[] = [];
  /** Connections to the endpoints it is bound to. */
  protected readonly accepted = new Set<ConnectionEnd>();
  readonly #outboxHost: OutboxHost;
  readonly #endFollowing: (() => void) | undefined;

  constructor(hub: Hub, process: Process, options: PortOptions) {
    super(hub, process, options);
    this.#outboxHost = {
      clock: process.clock,
      transmit: (peer, frames) => this.transmit(peer, frames),
      onUndeliverable: (peer, frames, reason, others) => {
        this.record('undeliverable', peer, frames);
        this.listener?.onUndeliverable(peer, frames, reason, others);
      },
    };
    this.outbox = new Outbox(this.options, this.#outboxHost);
    if (options.curve?.role === 'server')
      this.#endFollowing = options.curve.onAuthorizeChange?.(() => {
        this.recheck();
      });
  }

  abstract onRoom(end: ConnectionEnd): void;
  /** A connection made by a connector, to a peer that announces this routing id. */
  abstract onConnected(connector: VirtualConnector, end: ConnectionEnd, routingId: Uint8Array | undefined): void;
  /** A connection accepted at a bound endpoint. */
  protected abstract onAccepted(end: ConnectionEnd, routingId: Uint8Array | undefined): void;
  /** A connection has ended; `connector` made it, if it was made from here. */
  protected abstract onLost(end: ConnectionEnd, connector: VirtualConnector | undefined): void;
  /** The peer at the other end, as this socket names it; `undefined` to hide it from the listener. */
  protected abstract peerOf(end: ConnectionEnd): Peer | undefined;
  protected abstract transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined;

  get pending(): number {
    return this.outbox.pending;
  }

  bind(endpoint: string): Promise<string> {
    return this.bindTo(endpoint, this);
  }

  connect(endpoint: string): void {
    checkEndpoint(endpoint, 'connect');
    this.connectors.push(new VirtualConnector(this, endpoint));
  }

  onRefused(refusal: HandshakeRefusal | undefined): void {
    if (refusal !== undefined && this.closing === undefined) this.listener?.onRefused?.(refusal);
  }

  onConnection(reason: string | undefined): void {
    if (this.closing === undefined) this.listener?.onConnection?.(reason);
  }

  accept(end: ConnectionEnd, routingId: Uint8Array | undefined): void {
    this.accepted.add(end);
    this.onAccepted(end, routingId);
  }

  onConnectionLost(end: ConnectionEnd): void {
    const connector = this.connectorOf(end);
    if (connector === undefined && !this.accepted.delete(end)) return;
    this.hub.forget(end.connection);
    connector?.onConnectionLost();
    this.onLost(end, connector);
  }

  wake(): void {
    for (const connector of this.connectors) connector.wake();
    for (const end of this.accepted) end.wake();
  }

  pendingFor(peer: Peer): number {
    return this.outbox.pendingFor(peer);
  }

  override start(listener: PortListener): void {
    this.#outboxHost.onSent = listener.onSent?.bind(listener);
    super.start(listener);
  }

  recheck(): void {
    if (this.curve?.role !== 'server') return;
    const { authorize } = this.curve;
    for (const end of [...this.accepted]) {
      const { publicKey } = end.identified(ROUTER_PEER);
      if (publicKey === undefined || authorize?.(publicKey) !== false) continue;
      end.abort();
      this.onConnectionLost(end);
    }
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.process.state === 'dead') return;
    if (this.closing === undefined) this.record('sent', peer, frames);
    this.outbox.send(peer, frames);
  }

  onFrames(end: ConnectionEnd, frames: readonly Uint8Array[]): void {
    const peer = this.peerOf(end);
    if (peer === undefined || this.closing !== undefined) return;
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
      this.record('delivered', peer, frames);
      this.listener?.onMessage(peer, [...frames]);
    }
  }

  close(options: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.closing ??= this.#leave(options.lingerMs ?? this.options.lingerMs));
  }

  vanish(silent: boolean): void {
    this.#endFollowing?.();
    this.closing ??= Promise.resolve();
    this.outbox.stop();
    this.hub.unbind(this);
    this.disconnect(silent ? 'vanish' : 'abort');
  }

  /** The connector that made this connection, if any. */
  protected connectorOf(end: ConnectionEnd): VirtualConnector | undefined {
    return this.connectors.find((connector) => connector.end === end);
  }

  /** Leaves all connections. */
  protected disconnect(farewell: Farewell): void {
    for (const connector of this.connectors) connector.disconnect(farewell);
    for (const end of this.accepted) {
      end[farewell]();
      this.hub.forget(end.connection);
    }
    this.accepted.clear();
  }

  /** The peer's connection has ended. If that goes unnoticed, the next attempt to send to it finds out. */
  protected reportGone(peer: Peer): void {
    if (!this.hub.disconnectNotices || this.closing !== undefined) return;
    this.outbox.forget(peer);
    this.listener?.onPeerGone(peer);
  }

  async #leave(lingerMs: number): Promise<void> {
    this.#endFollowing?.();
    this.hub.unbind(this);
    if (lingerMs === 0) this.outbox.stop();
    else {
      const deadline = this.process.clock.now() + lingerMs;
      await this.outbox.close(deadline);
      // A connecting socket keeps trying while it lingers.
      await Promise.all(this.connectors.map((connector) => connector.handOver(deadline)));
    }
    this.disconnect(lingerMs === 0 ? 'abort' : 'close');
    this.process.resources.delete(this);
  }

  #reject(peer: Peer, frames: readonly Uint8Array[], reason: RejectReason): void {
    this.record('rejected', peer, frames);
    this.listener?.onRejected(peer, reason);
  }
}
