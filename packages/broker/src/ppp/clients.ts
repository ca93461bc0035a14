/** Paranoid Pirate queue: requests of clients at the frontend, and how long they wait (rules 14 and 15). */
import { Deadline } from '@proj/heartbeat';
import type { PppClientRequest } from '@proj/frames/ppp';
import { Client } from '../parts/clients.js';
import { Line, Place } from '../parts/line.js';
import { Request } from './requests.js';

/** A client at the frontend. */
export class Asker extends Client {
  readonly requests = new Line<ClientRequest>();
}

/** A request that is owed to a client. */
export class ClientRequest extends Request {
  readonly client: Asker;
  /** True when it came without address stack, and its reply goes back without one. */
  readonly bare: boolean;
  /** Place among the client's open requests. */
  readonly owed = new Place<ClientRequest>(this);
  /** When waiting has lasted too long. */
  readonly patience = new Deadline<ClientRequest>(this);

  constructor(client: Asker, { hops, content }: PppClientRequest) {
    super([client.peer.id, ...(hops ?? [])], content);
    this.client = client;
    this.bare = hops === undefined;
  }
}
