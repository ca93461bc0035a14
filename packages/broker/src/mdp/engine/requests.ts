/** Majordomo broker: requests that are open (rules 14, 18, 19). Books only, no protocol decisions. */
import { compactAll } from '@proj/frames';
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import { QueueSlot } from '../../shared/removable-queue.js';
import type { Slack } from '../../shared/slack.js';
import type { ClientEntry } from './clients.js';
import type { WaitDeadline } from './request-expiry.js';
import type { Service } from './services.js';

/** More than end in a row before others begin; each occupies some 100 bytes. */
const SPARE_MAX = 1024;

const NOTHING: MdpBody = [];

/**
 * An accepted request until it is answered or given up: waiting in its service's queue, or running at one worker. What it points to
 * in the former case is as far away in memory as it is: it is its own place in the queue, and nothing has a list of its own.
 */
export class Request extends QueueSlot<Request> {
  client: ClientEntry;
  service: Service;
  /** How the client speaks, and so how it is answered. */
  framing: MdpFraming;
  /** The frame of a body of one, as most are, or the whole body. */
  content: Uint8Array | MdpBody;
  /** Memory taken for what it holds beyond its body, while it waits. */
  slack = 0;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  /** When waiting will have lasted too long; `undefined` when there was no limit as it began to wait. */
  patience: WaitDeadline | undefined;

  constructor(client: ClientEntry, service: Service, framing: MdpFraming, body: MdpBody) {
    super();
    this.client = client;
    this.service = service;
    this.framing = framing;
    this.content = contentOf(body);
  }

  get body(): MdpBody {
    return this.content instanceof Uint8Array ? [this.content] : this.content;
  }

  /** From now on somebody else may keep what the body was: this is a copy of it. */
  copy(): void {
    this.content = this.content instanceof Uint8Array ? new Uint8Array(this.content) : this.content.map(copyOf);
  }

  /** It waits from now on, in memory of its own where there is no slack left. */
  settle(slack: Slack): void {
    const { body } = this;
    const taken = slack.take(body);
    if (taken === undefined) this.content = contentOf(compactAll(body));
    else this.slack = taken;
  }

  /** It waits no more. */
  leave(slack: Slack): void {
    slack.give(this.slack);
    this.slack = 0;
  }
}

/**
 * Where requests come from, and where they go when they are in no book any more. Their objects are used again: what waits among very
 * many outlives the young generation of the heap, and being copied out of it costs more than all that is done with a request.
 */
export class Requests {
  readonly #spare: Request[] = [];

  open(client: ClientEntry, service: Service, framing: MdpFraming, body: MdpBody): Request {
    const request = this.#spare.pop();
    if (request === undefined) return new Request(client, service, framing, body);
    request.client = client;
    request.service = service;
    request.framing = framing;
    request.content = contentOf(body);
    request.attempts = 0;
    return request;
  }

  close(request: Request): void {
    if (this.#spare.length >= SPARE_MAX) return;
    request.content = NOTHING;
    this.#spare.push(request);
  }
}

function copyOf(frame: Uint8Array): Uint8Array {
  return new Uint8Array(frame);
}

function contentOf(body: MdpBody): Uint8Array | MdpBody {
  return body.length === 1 ? (body[0] as Uint8Array) : body;
}
