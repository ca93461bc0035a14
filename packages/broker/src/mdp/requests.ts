/** Majordomo broker: requests that are open (rules 14, 18, 19). Books only, no protocol decisions. */
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import type { Deadline } from '@proj/heartbeat';
import type { Client } from '../parts/clients.js';
import { Link } from '../parts/linked-list.js';
import type { Service } from './services.js';

/** More than end in a row before others begin; each occupies some 300 bytes. */
const SPARE_MAX = 1024;

/** An accepted request until it is answered or given up: waiting in its service's queue, or running at one worker. */
export class Request {
  client: Client<Request>;
  service: Service;
  /** How the client speaks, and so how it is answered. */
  framing: MdpFraming;
  /** Its own list, never handed out: a later request will have it. */
  readonly body: Uint8Array[];
  /** Bytes taken from the budget. Grows by what `collected` holds. */
  cost: number;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  /** True once the client has had a part of the reply. */
  partialForwarded = false;
  /** `bridge`: bodies of PARTIALs for a client that can take one REPLY only. */
  collected: Collected | undefined;
  /** Place in the service's queue. */
  readonly place = new Link<Request>(this);
  /** When waiting has lasted too long; `undefined` as long as no request of this object has had a limit. */
  patience: Deadline<Request> | undefined;
  /** The service's situation when it began to wait; see `request-ttl.ts`. */
  situation = 0;
  /** Place among the client's open requests. */
  readonly owed = new Link<Request>(this);

  constructor(client: Client<Request>, service: Service, framing: MdpFraming, body: MdpBody, cost: number) {
    this.client = client;
    this.service = service;
    this.framing = framing;
    this.body = body.slice();
    this.cost = cost;
  }
}

/**
 * Where requests come from, and where they go when they are in no book any more. Their objects are used again: what waits among very
 * many outlives the young generation of the heap, and being copied out of it costs more than all that is done with a request.
 */
export class Requests {
  readonly #spare: Request[] = [];

  open(client: Client<Request>, service: Service, framing: MdpFraming, body: MdpBody, cost: number): Request {
    const request = this.#spare.pop();
    if (request === undefined) return new Request(client, service, framing, body, cost);
    request.client = client;
    request.service = service;
    request.framing = framing;
    for (const frame of body) request.body.push(frame);
    request.cost = cost;
    request.attempts = 0;
    request.partialForwarded = false;
    return request;
  }

  close(request: Request): void {
    if (this.#spare.length >= SPARE_MAX) return;
    request.collected = undefined;
    // `length = 0` would give up the list's memory.
    while (request.body.length > 0) request.body.pop();
    this.#spare.push(request);
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
