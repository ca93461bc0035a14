/** Majordomo broker: the records of each peer, service and request (rules 2, 3, 14, 18 to 21 and 29). No protocol decisions. */
import type { MdpBody, MdpFraming, MdpVersion } from '@proj/frames/mdp';
import { Deadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { keepOneOfMany, keptFrames, type KeptBody, ServiceMeter, type Timed } from '@proj/transport/engine';
import { ClientRecord } from '../../shared/clients.js';
import { FairQueue, type ClientQueue } from '../../shared/fair-queue.js';
import { isNamed } from '../../shared/figures.js';
import { Holding } from '../../shared/holder-classes.js';
import type { Name } from '../../shared/names.js';
import { QueueSlot, RemovableQueue } from '../../shared/removable-queue.js';
import type { Slack } from '../../shared/slack.js';
import { WorkerEntry } from '../../shared/worker-table.js';
import type { MdpLostClient, MdpWorkerChoice } from './events.js';
import type { PartialReplies } from './partials.js';

/** Spare requests to keep: more than usually end in a row before others begin. Each takes about 100 bytes. */
const SPARE_MAX = 1024;

const NOTHING: MdpBody = [];

const V01: MdpFraming = { version: '0.1', leadingEmpty: false };
const V02: MdpFraming = { version: '0.2', leadingEmpty: false };
const V02_BEHIND_EMPTY: MdpFraming = { version: '0.2', leadingEmpty: true };

/** The framing of a command as a shared value: what is kept of a peer in order to answer in its own framing. */
export function framingOf(command: MdpFraming): MdpFraming {
  if (command.version === '0.1') return V01;
  return command.leadingEmpty === true ? V02_BEHIND_EMPTY : V02;
}

/** A client with open requests. */
export class ClientEntry extends ClientRecord {
  /** Its open requests, running ones included. */
  open = 0;
  /** Its waiting requests, in the queues of all services. */
  readonly waiting = new RemovableQueue<ClientQueue<Request>>();
  /** What its waiting requests cost. */
  readonly held = new Holding<ClientEntry>(this);
  /** What happens to its requests when their workers have finished them. */
  outcome: 'ok' | MdpLostClient = 'ok';
  /** Its requests that handlers inside the broker work on; `undefined` until there is one. */
  runs: Set<Run> | undefined;
}

/** When a request will have waited too long, if its service is then in the same situation as when it began to wait. */
export class WaitDeadline extends Deadline<Request> {
  situation = 0;
}

/**
 * An accepted request until it is answered or given up: it waits in its service's queue or runs at one worker. It is its own slot in the queue
 * and has no list of its own, because waiting requests are far away in memory, and so is whatever they point to.
 */
export class Request extends QueueSlot<Request> implements Timed {
  client: ClientEntry;
  service: Service;
  /** The framing of the client, and so of the reply. */
  framing: MdpFraming;
  /** The frame of a body of one, which most have, or the whole body, or a kept one. */
  content: Uint8Array | KeptBody;
  /** What it takes from the byte budget. */
  cost = 0;
  /** Memory held beyond its body while it waits. */
  slack = 0;
  /** Number of workers it was given to, including the current one. */
  attempts = 0;
  /** When it began to wait, or was given to its worker. */
  sinceSpan = 0;
  sinceUs = 0;
  /** When it has waited too long; `undefined` if there was no limit when it began to wait. */
  expiry: WaitDeadline | undefined;

  constructor(client: ClientEntry, service: Service, framing: MdpFraming, body: MdpBody) {
    super();
    this.client = client;
    this.service = service;
    this.framing = framing;
    this.content = contentOf(body);
  }

  get body(): MdpBody {
    return this.content instanceof Uint8Array ? [this.content] : keptFrames(this.content);
  }

  /** Replaces the body with a copy, because a handler may keep and change the original. */
  copy(): void {
    this.content = contentOf(this.body.map((frame) => new Uint8Array(frame)));
  }

  /** It begins to wait, in its own memory if no slack is left. */
  settle(slack: Slack): void {
    const { body } = this;
    const taken = slack.take(body);
    if (taken === undefined) this.content = keepOneOfMany(body);
    else this.slack = taken;
  }

  /** It no longer waits. */
  leave(slack: Slack): void {
    slack.give(this.slack);
    this.slack = 0;
  }
}

/**
 * Creates requests, and reuses their objects once closed: with very many waiting requests, an object outlives the young generation of the heap,
 * and copying it out costs more than everything else done with it.
 */
export class RequestPool {
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

function contentOf(body: MdpBody): Uint8Array | MdpBody {
  return body.length === 1 ? (body[0] as Uint8Array) : body;
}

/** A registered worker of one service. */
export class Worker extends WorkerEntry<Request> {
  readonly service: Service;
  /** Its framing, from its READY. */
  readonly framing: MdpFraming;
  /** Rule 30: it is dismissed when its job has ended. */
  isLeaving = false;
  /** Its partial replies to its present job. */
  parts: PartialReplies | undefined;

  constructor(peer: Peer, service: Service, framing: MdpFraming, now: number) {
    super(peer, now);
    this.service = service;
    this.framing = framing;
  }
}

/** A service's name for operators. */
export function labelOf(version: MdpVersion | 'both', name: string): string {
  return version === '0.1' ? `${name} (0.1)` : name;
}

/** A name that is served or asked for. Exists while it has a worker or a waiting request. */
export class Service {
  readonly name: string;
  /** Its version; `both` if `bridge` joins them. */
  readonly version: MdpVersion | 'both';
  readonly counted: Name;
  /** Requests that no worker could take at once. While a worker is idle, only what clients left is here. */
  readonly queue: FairQueue<Request>;
  /** Rule 21: workers without a job, the one idle longest first. */
  readonly idle = new RemovableQueue<Worker>();
  /** Registered workers, busy ones included, plus those that `own` counts as. */
  workers = 0;
  /** Rule 29: the service of this name inside the broker. */
  own: OwnService | undefined;
  /** For operators; they continue when a formerly served service comes back. */
  readonly figures: ServiceMeter;
  /** It has, or had, workers. */
  wasServed = false;
  /** Counts the changes between "has workers" and "has none"; see `request-expiry.ts`. */
  situation = 0;
  /** When the requests that waited before the last change have waited too long. */
  readonly expiry = new Deadline<Service>(this);

  constructor(
    name: string,
    version: MdpVersion | 'both',
    queueMax: number,
    counted: Name,
    figures = new ServiceMeter(),
  ) {
    this.name = name;
    this.version = version;
    this.counted = counted;
    this.queue = new FairQueue<Request>(queueMax);
    this.figures = figures;
  }

  /** Its name for operators: a separate 0.1 service ends in ` (0.1)`. */
  get label(): string {
    return labelOf(this.version, this.name);
  }

  /** Workers that have a job. */
  get busy(): number {
    return this.workers - this.idle.size - (this.own?.free ?? 0);
  }

  /** True if a request need not wait. */
  get canTake(): boolean {
    return this.idle.size > 0 || (this.own?.free ?? 0) > 0;
  }
}

/** A service inside the broker, as the facade describes it. */
export interface OwnServiceSpec {
  /** Its number, never reused. */
  readonly id: number;
  readonly name: string;
  /** The versions in which it can be called. `bridge` joins them. */
  readonly versions: readonly MdpVersion[];
  /** Handlers that may run at a time, over all versions. */
  readonly concurrency: number;
}

/** One of the workers that a service inside the broker counts as. */
export interface Slot {
  readonly service: Service;
  readonly busy: boolean;
}

/** A service inside the broker. It counts as `concurrency` workers, in each version. */
export class OwnService {
  readonly id: number;
  readonly concurrency: number;
  /** The services whose requests it takes in turn: one per version, or the one that `bridge` has joined. */
  readonly homes: readonly Service[];
  running = 0;
  /** True once it accepts no more requests. */
  withdrawn = false;
  #turn = 0;

  constructor({ id, concurrency }: OwnServiceSpec, homes: readonly Service[]) {
    this.id = id;
    this.concurrency = concurrency;
    this.homes = homes;
  }

  /** Handlers that may be started now. */
  get free(): number {
    return this.withdrawn ? 0 : this.concurrency - this.running;
  }

  /** One for each handler that may run, in each version. */
  *slots(): IterableIterator<Slot> {
    for (const service of this.homes)
      for (let i = 0; i < this.concurrency; i++) yield { service, busy: i < this.concurrency - this.free };
  }

  /** Takes the next waiting request, from each version in turn. */
  shift(): Request | undefined {
    for (let tried = 0; tried < this.homes.length; tried++) {
      const request = this.homes[this.#turn++ % this.homes.length]?.queue.shift();
      if (request !== undefined) return request;
    }
    return undefined;
  }
}

/** A running handler. */
export class Run {
  readonly id: number;
  readonly own: OwnService;
  readonly request: Request;
  /** True once the client has received a partial reply. */
  forwarded = false;

  constructor(id: number, own: OwnService, request: Request) {
    this.id = id;
    this.own = own;
    this.request = request;
  }
}

/**
 * True if an operator's choice matches this worker: by its service, named as in figures (`echo`, or `echo (0.1)`), or by its routing id, as text
 * or in hex.
 */
export function isMeant({ peer, service }: Worker, choice: MdpWorkerChoice): boolean {
  return 'service' in choice ? service.label === choice.service : isNamed(peer, choice.worker);
}
