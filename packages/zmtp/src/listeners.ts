/** The binding side of a socket: its servers, incoming connections, and their limits. */
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { Addresses } from './addresses.js';
import type { Connection } from './connection.js';
import { endpointError, endpointOf, listenOptions, removeStalePath } from './endpoint.js';
import type { Target } from './endpoint.js';
import { acceptSocket } from './fast.js';
import type { Incoming } from './incoming.js';
import { Carrier } from './lanes/carrier.js';
import type { NodeSocket } from './node-socket.js';
import type { Wire } from './wire.js';
import type { World } from './world.js';

/** The socket. */
export interface ListenersHost {
  readonly incoming: Incoming;
  /** Number of connections of the socket. */
  readonly count: number;
  /** True once it accepts no more connections. */
  readonly isClosing: boolean;
  /** Makes a connection from a stream accepted at this endpoint. */
  onAccepted(wire: Wire, endpoint: string): Connection;
}

/** All endpoints that one socket binds. */
export class Listeners {
  readonly #world: World;
  readonly #host: ListenersHost;
  readonly #servers: Server[] = [];
  /** Connections that carry lanes. */
  readonly #carriers = new Set<Carrier>();
  /** Connections still in their handshake, oldest first. */
  readonly #shaking = new Set<Connection>();
  readonly #addresses = new Addresses();

  constructor(world: World, host: ListenersHost) {
    this.#world = world;
    this.#host = host;
  }

  /** Resolves to the actual endpoint. Rejects with `ADDRESS_IN_USE` or `OPTIONS_INVALID`. */
  async bind(endpoint: string, target: Target): Promise<string> {
    const server = createServer({ noDelay: true }, (socket) => {
      this.#accept(acceptSocket(socket), endpoint);
    });
    server.maxConnections = this.#world.connectionsMax;
    try {
      const options = await listenOptions(target, () => this.#world.entropy.uuid());
      if ('path' in options) await removeStalePath(options.path);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options, resolve);
      });
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
    server.on('error', (error) => {
      this.#world.onFailure(endpoint, { code: 'network', text: error.message });
    });
    this.#servers.push(server);
    this.#world.turns.serve();
    return endpointOf(server.address());
  }

  /** Takes over a connection that carries lanes, with the bytes received so far. */
  carry(socket: NodeSocket, endpoint: string, chunk: Uint8Array): void {
    if (!this.#world.lanes || this.#host.isClosing) {
      socket.destroy();
      return;
    }
    const hasRoom = (): boolean => this.#host.count < this.#world.connectionsMax;
    const carrier = new Carrier(socket, 'acceptor', {
      turns: this.#world.turns,
      watch: this.#world.watch,
      idleMs: this.#world.handshakeMs,
      onUnread: (bytes) => {
        this.#host.incoming.heldBytes += bytes;
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
    carrier.onBytes(chunk);
  }

  /** This connection has completed its handshake. */
  onMet(link: Connection): void {
    this.#shaking.delete(link);
  }

  /** This connection has ended or now carries lanes. */
  forget(link: Connection): void {
    this.#shaking.delete(link);
    this.#addresses.remove(link);
  }

  /** Accepts nothing more; resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  /** No lane is left: ends the connections that carried them. */
  finishCarriers(): void {
    for (const carrier of this.#carriers) carrier.finish();
  }

  #accept(wire: Wire, endpoint: string): void {
    const { connectionsPerAddressMax, handshakesMax } = this.#world;
    const address = wire.remoteAddress;
    if (this.#host.isClosing) {
      wire.destroy();
      return;
    }
    if (this.#addresses.count(address) >= connectionsPerAddressMax) {
      wire.destroy();
      const text = `${address} already has ${connectionsPerAddressMax} connections, the limit per address`;
      this.#world.onFailure(endpoint, { code: 'too-many', text });
      return;
    }
    if (this.#shaking.size >= handshakesMax) this.#cutOldest();
    const link = this.#host.onAccepted(wire, endpoint);
    this.#shaking.add(link);
    this.#addresses.add(link, address);
  }

  #cutOldest(): void {
    const [oldest] = this.#shaking;
    if (oldest === undefined) return;
    this.#shaking.delete(oldest);
    const text = `${this.#world.handshakesMax} handshakes are under way, and this one is the oldest`;
    oldest.cut({ code: 'too-many', text });
  }
}
