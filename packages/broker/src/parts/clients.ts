/** Who is owed replies: clients and their open requests. No protocol. */
import type { Peer } from '@proj/transport';
import { LinkedList } from './linked-list.js';

/** A peer with open requests. */
export class Client<Request> {
  readonly peer: Peer;
  readonly requests = new LinkedList<Request>();
  /** True when its connection ended: running requests finish, their replies are dropped. */
  gone = false;

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/** Clients that have open requests, by routing id. A client without any is not remembered. */
export class Clients<Request> {
  readonly #clients = new Map<string, Client<Request>>();

  /** Number of clients remembered. */
  get size(): number {
    return this.#clients.size;
  }

  find(key: string): Client<Request> | undefined {
    return this.#clients.get(key);
  }

  /** Remembers a peer that is not yet known. */
  add(peer: Peer): Client<Request> {
    const client = new Client<Request>(peer);
    this.#clients.set(peer.key, client);
    return client;
  }

  /** Forgets the client when it has no open request left. */
  tidy(client: Client<Request>): void {
    if (client.requests.size === 0 && !client.gone) this.#clients.delete(client.peer.key);
  }

  /** Marks the client as gone and forgets it; the same id may come back as a new client. */
  leave(client: Client<Request>): void {
    client.gone = true;
    this.#clients.delete(client.peer.key);
  }

  values(): IterableIterator<Client<Request>> {
    return this.#clients.values();
  }
}
