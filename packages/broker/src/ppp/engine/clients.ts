/** Paranoid Pirate queue: requests of clients at the frontend, and how long they wait (rules 14 and 15). */
import { Deadline } from '@proj/heartbeat';
import type { PppClientRequest } from '@proj/frames/ppp';
import { ClientRecord } from '../../shared/clients.js';
import { RemovableQueue, QueueSlot } from '../../shared/removable-queue.js';
import { Request } from './requests.js';

/** A client at the frontend. */
export class ClientEntry extends ClientRecord {
  readonly requests = new RemovableQueue<ClientRequest>();
}

/** A request that is owed to a client. */
export class ClientRequest extends Request {
  readonly client: ClientEntry;
  /** True when it came without address stack, and its reply goes back without one. */
  readonly bare: boolean;
  /** Place among the client's open requests. */
  readonly owed = new QueueSlot<ClientRequest>(this);
  /** When waiting has lasted too long. */
  readonly patience = new Deadline<ClientRequest>(this);

  constructor(client: ClientEntry, { hops, content }: PppClientRequest) {
    super([client.peer.id, ...(hops ?? [])], content);
    this.client = client;
    this.bare = hops === undefined;
  }
}
