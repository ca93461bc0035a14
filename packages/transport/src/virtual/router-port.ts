/** A ROUTER with mandatory routing: many peers by routing id, each with a pipe of its own. */
import { ProjError } from '../errors.js';
import type { SendOutcome } from '../outbox.js';
import type { Peer, PortOptions } from '../port.js';
import type { Connection, ConnectionEnd } from './connection.js';
import { checkEndpoint } from './endpoint.js';
import { VirtualPort } from './port.js';
import type { Farewell, Hub, RouterSide } from './port.js';
import type { Process } from './process.js';

interface Route {
  readonly peer: Peer;
  readonly connection: Connection;
  /** The id was taken when it came: libzmq reads and forgets whatever it says, and never promotes it. */
  readonly mute: boolean;
}

/** The bound side of the network. */
export class RouterPort extends VirtualPort implements RouterSide {
  protected readonly socket = 'router';
  /** Whom messages can be sent to, by routing id. */
  readonly #routes = new Map<string, Route>();
  /** Every connection, mute ones included. */
  readonly #connections = new Map<ConnectionEnd, Route>();
  #nextId: number;

  constructor(hub: Hub, process: Process, options: PortOptions) {
    super(hub, process, options);
    this.#nextId = process.random.uint32();
  }

  bind(endpoint: string): Promise<string> {
    // A dead process gets no answer to anything.
    if (this.process.state === 'dead') return new Promise(() => undefined);
    return new Promise((resolve) => {
      checkEndpoint(endpoint, 'bind');
      resolve(this.hub.bind(endpoint, this));
    });
  }

  connect(endpoint: string): void {
    throw new ProjError('OPTIONS_INVALID', `endpoint ${JSON.stringify(endpoint)}: virtual routers only bind`);
  }

  accept(connection: Connection, routingId: Uint8Array | undefined): void {
    const id = routingId ?? this.#chooseId();
    const peer: Peer = { key: String.fromCharCode(...id), id };
    const known = this.#routes.get(peer.key);
    const mute = known !== undefined && !this.options.handover;
    const route: Route = { peer, connection, mute };
    this.#connections.set(connection.router, route);
    this.#record('connected', route);
    if (mute) return;
    this.#routes.set(peer.key, route);
    if (known !== undefined) this.#drop(known);
    this.outbox.resume(peer);
  }

  onRoom(end: ConnectionEnd): void {
    const route = this.#connections.get(end);
    if (route !== undefined) this.outbox.resume(route.peer);
  }

  onConnectionLost(end: ConnectionEnd): void {
    const route = this.#connections.get(end);
    if (route === undefined) return;
    this.#connections.delete(end);
    this.hub.forget(route.connection);
    this.#record('disconnected', route);
    if (route.mute) return;
    this.#routes.delete(route.peer.key);
    this.reportGone(route.peer);
  }

  wake(): void {
    for (const end of this.#connections.keys()) end.wake();
  }

  protected peerOf(end: ConnectionEnd): Peer | undefined {
    const route = this.#connections.get(end);
    return route === undefined || route.mute ? undefined : route.peer;
  }

  protected transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome {
    const route = this.#routes.get(peer.key);
    if (route === undefined) return 'unreachable';
    return route.connection.router.send(frames) ? 'sent' : 'congested';
  }

  protected stopAccepting(): void {
    this.hub.unbind(this);
  }

  protected handOver(): Promise<void> {
    return Promise.resolve();
  }

  protected disconnect(farewell: Farewell): void {
    for (const [end, route] of this.#connections) {
      end[farewell]();
      this.hub.forget(route.connection);
    }
    this.#connections.clear();
    this.#routes.clear();
  }

  /** Handover: the old connection is closed, and no notice of it is given. */
  #drop(old: Route): void {
    this.#connections.delete(old.connection.router);
    old.connection.router.close();
    this.hub.forget(old.connection);
    this.#record('disconnected', old);
  }

  /** As libzmq: a zero byte and a counter that starts at random. */
  #chooseId(): Uint8Array {
    const id = new Uint8Array(5);
    new DataView(id.buffer).setUint32(1, this.#nextId);
    this.#nextId = (this.#nextId + 1) >>> 0;
    return id;
  }

  #record(kind: 'connected' | 'disconnected', { peer, connection, mute }: Route): void {
    const client = connection.dealer.owner.process.name;
    this.hub.record({ kind, process: this.process.name, client, peer, mute });
  }
}
