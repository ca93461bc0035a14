/** Clients that are owed replies. Knows no protocol. */
import type { Peer } from '@proj/transport';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** More clients than take turns with one request each; a spare record occupies some 300 bytes. */
const SPARE_MAX = 1024;

/** A client with open requests. The protocol's subclass knows which. */
export class ClientRecord {
  peer: Peer;
  /** True once its connection has ended: its running requests finish, and their replies are dropped. */
  gone = false;
  /** @internal Place among the clients without open requests. */
  readonly spare = new QueueSlot<this>(this);

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/**
 * Clients with open requests, by routing id. Most clients ask again soon, so the table keeps the last records that are no longer needed:
 * creating and deleting a map entry for each request costs more than everything else about a client.
 */
export class ClientTable<Known extends ClientRecord> {
  readonly #make: new (peer: Peer) => Known;
  readonly #clients = new Map<string, Known>();
  readonly #spare = new RemovableQueue<Known>();

  constructor(make: new (peer: Peer) => Known) {
    this.#make = make;
  }

  /** Number of clients with open requests. */
  get size(): number {
    return this.#clients.size - this.#spare.size;
  }

  find(key: string): Known | undefined {
    const client = this.#clients.get(key);
    return client?.spare.taken === true ? undefined : client;
  }

  /** Adds a peer that `find` does not know. */
  add(peer: Peer): Known {
    let client = this.#clients.get(peer.key);
    if (client === undefined) {
      client = new this.#make(peer);
      this.#clients.set(peer.key, client);
    } else {
      // By now the id may belong to another peer.
      client.peer = peer;
      this.#spare.remove(client.spare);
    }
    return client;
  }

  /** Forgets a client that has no open request left. */
  rest(client: Known): void {
    if (client.gone) return;
    this.#spare.push(client.spare);
    if (this.#spare.size <= SPARE_MAX) return;
    const longest = this.#spare.shift();
    if (longest !== undefined) this.#clients.delete(longest.peer.key);
  }

  /** Marks the client as gone and forgets it; the same id may return as a new client. */
  leave(client: Known): void {
    client.gone = true;
    this.#clients.delete(client.peer.key);
  }

  *values(): IterableIterator<Known> {
    for (const client of this.#clients.values()) if (!client.spare.taken) yield client;
  }
}
