/** A ROUTER with mandatory routing: many peers by routing id, each with its own pipe. */
import type { SendOutcome } from '../outbox.js';
import type { Peer, PortOptions } from '../port.js';
import { ConnectionEnd } from './connection.js';
import type { MessageTarget } from './connection.js';
import type { VirtualConnector } from './connector.js';
import { VirtualPort } from './port.js';
import type { Hub } from './hub.js';
import type { Process } from './process.js';

interface Route {
  readonly peer: Peer;
  readonly outlet: MessageTarget;
  /** The id was taken when it connected: libzmq reads and ignores whatever it sends, and never promotes it. */
  readonly mute: boolean;
}

/** Usually bound. A peer that it connects to keeps its route, and so its name, across connections, as with libzmq's pipe. */
export class VirtualRouter extends VirtualPort {
  readonly socket = 'router';
  /** The routes that messages can be sent to, by routing id. */
  readonly #routes = new Map<string, Route>();
  /** The route of every connection, including ignored ones. */
  readonly #routeOf = new Map<ConnectionEnd, Route>();
  /** The routes of peers this socket has connected to. */
  readonly #met = new Map<VirtualConnector, Route>();
  #nextId: number;

  constructor(hub: Hub, process: Process, options: PortOptions) {
    super(hub, process, options);
    this.#nextId = process.random.uint32();
  }

  onConnected(connector: VirtualConnector, end: ConnectionEnd, routingId: Uint8Array | undefined): void {
    const route = this.#met.get(connector) ?? this.#meet(connector, routingId);
    this.#routeOf.set(end, route);
    this.#record('connected', end, route);
    this.#flush(connector, route);
  }

  onRoom(end: ConnectionEnd): void {
    const route = this.#routeOf.get(end);
    if (route === undefined) return;
    const connector = this.connectorOf(end);
    if (connector === undefined) this.outbox.resume(route.peer);
    else this.#flush(connector, route);
  }

  protected onAccepted(end: ConnectionEnd, routingId: Uint8Array | undefined): void {
    const peer = end.identified(this.#name(routingId));
    const known = this.#routes.get(peer.key);
    const replaced = this.options.handover && known?.outlet instanceof ConnectionEnd ? known.outlet : undefined;
    const route: Route = { peer, outlet: end, mute: known !== undefined && replaced === undefined };
    this.#routeOf.set(end, route);
    this.#record('connected', end, route);
    if (route.mute) return;
    this.#routes.set(peer.key, route);
    if (replaced !== undefined) this.#drop(replaced);
    this.outbox.resume(peer);
  }

  protected onLost(end: ConnectionEnd, connector: VirtualConnector | undefined): void {
    const route = this.#routeOf.get(end);
    if (route === undefined) return;
    this.#routeOf.delete(end);
    this.#record('disconnected', end, route);
    // As in libzmq: an endpoint it connects to stays its peer, and the end of a connection is not reported.
    if (route.mute || connector !== undefined) return;
    this.#routes.delete(route.peer.key);
    this.reportGone(route.peer);
  }

  protected peerOf(end: ConnectionEnd): Peer | undefined {
    const route = this.#routeOf.get(end);
    return route === undefined || route.mute ? undefined : route.peer;
  }

  protected transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome {
    const route = this.#routes.get(peer.key);
    if (route === undefined) return 'unreachable';
    return route.outlet.send(frames) ? 'sent' : 'congested';
  }

  #meet(connector: VirtualConnector, routingId: Uint8Array | undefined): Route {
    const peer = this.#name(routingId);
    const route: Route = { peer, outlet: connector, mute: this.#routes.has(peer.key) };
    this.#met.set(connector, route);
    if (!route.mute) this.#routes.set(peer.key, route);
    return route;
  }

  #flush(connector: VirtualConnector, { peer }: Route): void {
    if (connector.flush()) this.outbox.resume(peer);
  }

  /** Handover: the old connection is closed without a notification. */
  #drop(old: ConnectionEnd): void {
    const route = this.#routeOf.get(old);
    this.accepted.delete(old);
    this.#routeOf.delete(old);
    old.close();
    this.hub.forget(old.connection);
    if (route !== undefined) this.#record('disconnected', old, route);
  }

  #name(routingId: Uint8Array | undefined): Peer {
    const id = routingId ?? this.#chooseId();
    return { key: String.fromCharCode(...id), id };
  }

  /** As in libzmq: a zero byte and a counter with a random start. */
  #chooseId(): Uint8Array {
    const id = new Uint8Array(5);
    new DataView(id.buffer).setUint32(1, this.#nextId);
    this.#nextId = (this.#nextId + 1) >>> 0;
    return id;
  }

  #record(kind: 'connected' | 'disconnected', end: ConnectionEnd, { peer, mute }: Route): void {
    const client = end.connection.across(end).owner.process.name;
    this.hub.record({ kind, process: this.process.name, client, peer, mute });
  }
}
