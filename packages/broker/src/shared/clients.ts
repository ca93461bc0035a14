/** Who is owed replies. No protocol. */
import type { Peer } from '@proj/transport';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** More than ask one thing at a time in turn; each occupies some 300 bytes. */
const SPARE_MAX = 1024;

/** A peer with open requests. Which these are is known to the protocol's own class. */
export class ClientRecord {
  peer: Peer;
  /** True when its connection ended: running requests finish, their replies are dropped. */
  gone = false;
  /** @internal Place among those without any. */
  readonly spare = new QueueSlot<this>(this);

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/**
 * Clients that have open requests, by routing id. A client without any is not remembered. Most ask again soon, so the records of the
 * last ones stay where they are: an entry of a map that is made and deleted with each request costs more than all else about a client.
 */
export class ClientTable<Known extends ClientRecord> {
  readonly #make: new (peer: Peer) => Known;
  readonly #clients = new Map<string, Known>();
  readonly #spare = new RemovableQueue<Known>();

  constructor(make: new (peer: Peer) => Known) {
    this.#make = make;
  }

  /** Number of clients remembered. */
  get size(): number {
    return this.#clients.size - this.#spare.size;
  }

  find(key: string): Known | undefined {
    const client = this.#clients.get(key);
    return client?.spare.taken === true ? undefined : client;
  }

  /** Remembers a peer that is not yet known. */
  add(peer: Peer): Known {
    let client = this.#clients.get(peer.key);
    if (client === undefined) {
      client = new this.#make(peer);
      this.#clients.set(peer.key, client);
    } else {
      // The id may be somebody else's by now.
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

  /** Marks the client as gone and forgets it; the same id may come back as a new client. */
  leave(client: Known): void {
    client.gone = true;
    this.#clients.delete(client.peer.key);
  }

  *values(): IterableIterator<Known> {
    for (const client of this.#clients.values()) if (!client.spare.taken) yield client;
  }
}
