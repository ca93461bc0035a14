/** Majordomo broker: requests that are open (rules 14, 18, 19). Books only, no protocol decisions. */
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import { Deadline } from '@proj/heartbeat';
import type { Client } from '../parts/clients.js';
import { Place } from '../parts/fair-queue.js';
import { Link } from '../parts/linked-list.js';
import type { Service } from './services.js';

/** An accepted request until it is answered or given up: waiting in its service's queue, or running at one worker. */
export class Request {
  readonly client: Client<Request>;
  readonly service: Service;
  /** How the client speaks, and so how it is answered. */
  readonly framing: MdpFraming;
  readonly body: MdpBody;
  /** Bytes taken from the budget. Grows by what `collected` holds. */
  cost: number;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  /** True once the client has had a part of the reply. */
  partialForwarded = false;
  /** `bridge`: bodies of PARTIALs for a client that can take one REPLY only. */
  collected: Collected | undefined;
  /** Place in the service's queue. */
  readonly place = new Place<Request>(this);
  /** When waiting has lasted too long. */
  readonly patience = new Deadline<Request>(this);
  /** The service's situation when it began to wait; see `request-ttl.ts`. */
  situation = 0;
  /** Place among the client's open requests. */
  readonly owed = new Link<Request>(this);

  constructor(client: Client<Request>, service: Service, framing: MdpFraming, body: MdpBody, cost: number) {
    this.client = client;
    this.service = service;
    this.framing = framing;
    this.body = body;
    this.cost = cost;
  }
}

/** Parts of a reply that wait for the rest. */
export interface Collected {
  readonly frames: Uint8Array[];
  bytes: number;
  /** Bytes taken from the budget for them. */
  cost: number;
  /** True when they exceed what a message may be; `frames` is empty then. */
  tooLarge: boolean;
}
