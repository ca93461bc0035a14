/** Majordomo broker: requests that are open (rules 14, 18, 19). Books only, no protocol decisions. */
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import type { Deadline } from '@proj/heartbeat';
import { Link } from '../parts/linked-list.js';
import type { Asker } from './clients.js';
import type { Service } from './services.js';

/** More than end in a row before others begin; each occupies some 150 bytes. */
const SPARE_MAX = 1024;

const NOTHING: MdpBody = [];

/**
 * An accepted request until it is answered or given up: waiting in its service's queue, or running at one worker. What it points to
 * in the former case is as far away in memory as it is: it is its own place in the queue, and nothing has a list of its own.
 */
export class Request extends Link<Request> {
  client: Asker;
  service: Service;
  /** How the client speaks, and so how it is answered. */
  framing: MdpFraming;
  /** The frame of a body of one, as most are, or the whole body. */
  content: Uint8Array | MdpBody;
  /** Bytes taken from the budget. Grows by what `collected` holds. */
  cost: number;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  /** True once the client has had a part of the reply. */
  partialForwarded = false;
  /** `bridge`: bodies of PARTIALs for a client that can take one REPLY only. */
  collected: Collected | undefined;
  /** When waiting has lasted too long; `undefined` as long as no request of this object has had a limit. */
  patience: Deadline<Request> | undefined;
  /** The service's situation when it began to wait; see `request-ttl.ts`. */
  situation = 0;

  constructor(client: Asker, service: Service, framing: MdpFraming, body: MdpBody, cost: number) {
    super();
    this.client = client;
    this.service = service;
    this.framing = framing;
    this.content = contentOf(body);
    this.cost = cost;
  }

  get body(): MdpBody {
    return this.content instanceof Uint8Array ? [this.content] : this.content;
  }
}

/**
 * Where requests come from, and where they go when they are in no book any more. Their objects are used again: what waits among very
 * many outlives the young generation of the heap, and being copied out of it costs more than all that is done with a request.
 */
export class Requests {
  readonly #spare: Request[] = [];

  open(client: Asker, service: Service, framing: MdpFraming, body: MdpBody, cost: number): Request {
    const request = this.#spare.pop();
    if (request === undefined) return new Request(client, service, framing, body, cost);
    request.client = client;
    request.service = service;
    request.framing = framing;
    request.content = contentOf(body);
    request.cost = cost;
    request.attempts = 0;
    request.partialForwarded = false;
    return request;
  }

  close(request: Request): void {
    if (this.#spare.length >= SPARE_MAX) return;
    request.collected = undefined;
    request.content = NOTHING;
    this.#spare.push(request);
  }
}

function contentOf(body: MdpBody): Uint8Array | MdpBody {
  return body.length === 1 ? (body[0] as Uint8Array) : body;
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
