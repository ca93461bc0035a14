/** NFP broker: the clients it remembers: their command form, and the contents of `show_clients` (rules 2, 17, 24). */
import { nfpNameOf } from '@proj/frames/nfp';
import type { NfpCommandForm } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import { RemovableQueue, QueueSlot } from '../../../shared/removable-queue.js';

/** How long a silent client is remembered. */
const IDLE_MAX_MS = 3_600_000;

/** A peer that has sent something as a client. */
export class KnownClient {
  /** From its first message; its jobs share this object, so that they need not keep part of each later message. */
  readonly peer: Peer;
  readonly name: string;
  readonly since: number;
  form: NfpCommandForm = 'ascii';
  /** Rule 24: it seems to have a REQ socket, so it takes exactly one reply to each call. */
  takesOne = false;
  lastSeen = 0;
  received = 0;
  sent = 0;
  /** POSTs. */
  jobs = 0;
  /** @internal Place among all clients, least recently seen first. */
  readonly recent = new QueueSlot<KnownClient>(this);

  constructor(peer: Peer, now: number) {
    this.peer = peer;
    this.name = nfpNameOf(peer.id);
    this.since = now;
    this.lastSeen = now;
  }
}

/** Whether the ROUTER made the routing id, as for most REQ sockets: 0x00 and four bytes. */
function isAutomatic(id: Uint8Array): boolean {
  return id.length === 5 && id[0] === 0;
}

/** The clients seen last, by routing id. Every operation but `values` is O(1). */
export class KnownClients {
  readonly #byKey = new Map<string, KnownClient>();
  readonly #recent = new RemovableQueue<KnownClient>();
  readonly #max: number;

  constructor(options: { readonly clientsMax: number }) {
    this.#max = options.clientsMax;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** A message from the client arrived. Forgets the client idle for longest if there are too many, or if it was idle for an hour. */
  heard(peer: Peer, form: NfpCommandForm, now: number): KnownClient {
    const client = this.#byKey.get(peer.key) ?? this.#add(peer, now);
    client.form = form;
    client.takesOne = form === 'byte' && (peer.isReq ?? isAutomatic(peer.id));
    client.lastSeen = now;
    client.received++;
    if (this.#recent.last !== client) {
      this.#recent.remove(client.recent);
      this.#recent.push(client.recent);
    }
    const oldest = this.#recent.first as KnownClient;
    if (this.size > this.#max || now - oldest.lastSeen > IDLE_MAX_MS) this.#forget(oldest);
    return client;
  }

  find(key: string): KnownClient | undefined {
    return this.#byKey.get(key);
  }

  /** Idle for longest first. */
  values(): IterableIterator<KnownClient> {
    return this.#recent.values();
  }

  #add(peer: Peer, now: number): KnownClient {
    const client = new KnownClient(peer, now);
    this.#byKey.set(peer.key, client);
    return client;
  }

  #forget(client: KnownClient): void {
    this.#byKey.delete(client.peer.key);
    this.#recent.remove(client.recent);
  }
}
