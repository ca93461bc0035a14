/** Paranoid Pirate queue: requests of clients at the frontend, and how long they wait (rules 14 and 15). */
import { Deadline } from '@proj/heartbeat';
import type { PppClientRequest } from '@proj/frames/ppp';
import type { Client } from '../parts/clients.js';
import { Link } from '../parts/linked-list.js';
import { Request } from './requests.js';

/** A request that is owed to a client. */
export class ClientRequest extends Request {
  readonly client: Client<ClientRequest>;
  /** Place among the client's open requests. */
  readonly owed = new Link<ClientRequest>(this);
  /** When waiting has lasted too long. */
  readonly patience = new Deadline<ClientRequest>(this);

  constructor(client: Client<ClientRequest>, { hops, content }: PppClientRequest) {
    super([client.peer.id, ...hops], content);
    this.client = client;
  }
}
