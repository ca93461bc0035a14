/** NFP broker: the records behind its tables: services, workers and their names, jobs and the state of each. No protocol decisions. */
import { nfpNameOf } from '@proj/frames/nfp';
import type { NfpBody, NfpCall, NfpClientCall, NfpCommandForm } from '@proj/frames/nfp';
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { keptFrames, type KeptBody, setSince, type Timed } from '@proj/transport/engine';
import type { Name } from '../../shared/names.js';
import { RemovableQueue, QueueSlot } from '../../shared/removable-queue.js';
import { Share } from '../../shared/shares.js';
import type { Meter } from './figures.js';

/** The agreed terms of keepalives. */
export interface Terms {
  readonly intervalMs: number;
  /** Intervals of silence after which a side is dead. */
  readonly multiplier: number;
}

/** A service that is served or asked for. Exists while it has a worker or a waiting POST. */
export class Service {
  readonly name: string;
  /** Least recently used first. */
  readonly workers = new RemovableQueue<Worker>();
  /** How many of them accept further jobs (rule 25). */
  staying = 0;
  /** POSTs that wait for a first worker, in order of arrival. */
  readonly queue = new RemovableQueue<Job>();
  /** It has workers, and its queue is being handed to them in slices. */
  isServing = false;
  readonly counted: Name;
  readonly meter: Meter;

  constructor(name: string, counted: Name, meter: Meter) {
    this.name = name;
    this.counted = counted;
    this.meter = meter;
  }
}

/** A registered worker of one service. */
export class Worker {
  readonly peer: Peer;
  readonly name: string;
  readonly service: Service;
  readonly since: number;
  /** How it writes commands, by its last message. */
  form: NfpCommandForm;
  terms: Terms;
  lastSeen: number;
  keepaliveAt = 0;
  keepalivesSent = 0;
  keepalivesReceived = 0;
  /** Number of the last call that went to it. */
  used = 0;
  /** When its open jobs were last sent again because it repeated READY; `isOwed` if it repeated READY too soon after that. */
  repaidAt = -Infinity;
  isOwed = false;
  /** Rule 25: it gets no further jobs, and is dismissed when it has none. */
  isLeaving = false;
  /** Place among the workers of its service. */
  readonly turn = new QueueSlot<Worker>(this);
  readonly attention = new HeapDeadline<Worker>(this);
  /** Its name, with the jobs it has: set at registration. */
  holder!: Holder;

  constructor(peer: Peer, service: Service, form: NfpCommandForm, terms: Terms, now: number) {
    this.peer = peer;
    this.name = nfpNameOf(peer.id);
    this.service = service;
    this.form = form;
    this.terms = terms;
    this.since = now;
    this.lastSeen = now;
  }

  /** How long it may be silent, in milliseconds. */
  get holdMs(): number {
    return this.terms.intervalMs * this.terms.multiplier;
  }
}

/** A worker's name, connected or not. It outlives the registration: the worker behind it keeps its jobs on disk and returns. */
export class Holder implements Timed {
  readonly key: string;
  readonly name: string;
  /** The service it last registered for, or is expected at. */
  service: string;
  worker: Worker | undefined;
  /** A registration that continues without a connection, and until when. */
  away: { readonly worker: Worker; readonly since: number; readonly until: number } | undefined;
  /** Too many names were absent: this one is dropped once it has no job. */
  isForgotten = false;
  /** In the order in which it got them. */
  readonly parts = new RemovableQueue<Part>();
  /** It has registered since this send: it may not have what it was sent up to then. */
  owedUpTo = 0;
  /** For operators: jobs it has, since when it has any or none, results so far, jobs that went from it to others or to it again. */
  running = 0;
  sinceSpan = 0;
  sinceUs = 0;
  done = 0;
  resends = 0;
  /** @internal When the name is forgotten; unset while it is registered, or if it never was. */
  readonly memory = new Deadline<Holder>(this);
  /** @internal When its jobs stop waiting for it. */
  readonly patience = new Deadline<Holder>(this);

  constructor(key: string, name: string, service: string) {
    this.key = key;
    this.name = name;
    this.service = service;
  }
}

/**
 * The state of a job at one worker. `held`: to be sent once the worker is present. `sent`: no word about it yet. `taken`: the worker has it.
 * `moved`: another worker has it, and this one must drop it.
 */
export type PartState = 'held' | 'sent' | 'taken' | 'moved';

/** A job at one worker. It is its own slot among the parts of its worker. */
export class Part extends QueueSlot<Part> implements Timed {
  readonly job: Job;
  readonly holder: Holder;
  state: PartState;
  /** The worker was told to drop it. */
  isTold = false;
  /** The worker has answered that it has dropped it, or never had it. */
  hasDropped = false;
  /** Number of the last send of any job that sent this one. */
  sent = 0;
  /** When that was. */
  sinceSpan = 0;
  sinceUs = 0;

  constructor(job: Job, holder: Holder, state: PartState) {
    super();
    this.job = job;
    this.holder = holder;
    this.state = state;
  }
}

/** A client with remembered jobs, and its part of every limit that all clients share. */
export class Owner {
  readonly peer: Peer;
  jobCount = 0;
  /** Jobs of it that workers have. */
  running = 0;
  /** Jobs that may be forgotten, the least recently used first. */
  readonly recent = new RemovableQueue<Job>();
  /** Jobs whose body may be given up, the oldest first. */
  readonly spare = new RemovableQueue<Job>();
  readonly remembered = new Share();
  readonly waiting = new Share();
  readonly parts = new Share();
  readonly bytes = new Share();

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/** An empty body: that of a job the broker need not send again. */
export const NO_BODY: NfpBody = [];

const NO_PARTS: Iterable<Part> = [];

/**
 * A job that a client posted, or asked about. It is its own slot among all jobs by last use, in no queue while it waits: a hundred thousand jobs
 * are remembered, and each object less is one less to copy when the heap is cleaned.
 */
export class Job extends QueueSlot<Job> implements Timed {
  readonly uuid: string;
  /** As the client named it. */
  readonly service: string;
  readonly command: NfpCall;
  /** As the client wrote it; cleared once the broker no longer needs it, because it may be long. */
  target: string;
  /** Gets the job's events, and the broker's unrequested messages. */
  poster: Peer;
  /** Asked last: gets responses that name no client. */
  asker: Peer;
  /** Its body while the broker may have to send it; otherwise empty. */
  kept: KeptBody = NO_BODY;
  /** Bytes taken from the budget for the body, and memory it holds beyond that. */
  cost = 0;
  slack = 0;
  /** Number of sends, to all its workers together. */
  attempts = 0;
  /** Since when it has waited for a worker. */
  sinceSpan = 0;
  sinceUs = 0;
  /** Figures of its service, once it is accepted. */
  meter: Meter | undefined;
  /** The service whose first worker it waits for. */
  waitingAt: Service | undefined;
  /** For a job that may move to another worker: the part that counts. */
  current: Part | undefined;
  /** Parts in state `held`. */
  held = 0;
  /** Parts in state `held` or `sent`. */
  unsaid = 0;
  /** Place in the queue of its service, or among the bodies that may be given up. */
  place: QueueSlot<Job> | undefined;
  /** Place among those of its client that may be given up. */
  ownSpare: QueueSlot<Job> | undefined;
  /** When it has waited too long; only while it, or a part of it, waits. */
  patience: Deadline<Job> | undefined;
  readonly owner: Owner;
  readonly ownRecent = new QueueSlot<Job>(this);
  /** Its only part, as most jobs have, or all of them. */
  #part: Part | undefined;
  #parts: Map<Holder, Part> | undefined;

  constructor(peer: Peer, call: NfpClientCall, owner: Owner, now: number) {
    super();
    this.owner = owner;
    setSince(this, now);
    this.uuid = call.uuid;
    this.service = call.service;
    this.command = call.command;
    this.target = call.target;
    this.poster = peer;
    this.asker = peer;
  }

  get body(): NfpBody {
    return keptFrames(this.kept);
  }

  /** One for each worker that has it, will get it, or must drop it. */
  get parts(): Iterable<Part> {
    return this.#parts?.values() ?? (this.#part === undefined ? NO_PARTS : [this.#part]);
  }

  get partCount(): number {
    return this.#parts?.size ?? (this.#part === undefined ? 0 : 1);
  }

  partAt(holder: Holder): Part | undefined {
    return this.#parts === undefined && this.#part?.holder === holder ? this.#part : this.#parts?.get(holder);
  }

  /** There must be none at this worker yet. */
  addPart(part: Part): void {
    if (this.#part === undefined && this.#parts === undefined) {
      this.#part = part;
      return;
    }
    this.#parts ??= new Map(this.#part && [[this.#part.holder, this.#part]]);
    this.#parts.set(part.holder, part);
  }

  removePart(part: Part): void {
    this.#parts?.delete(part.holder);
    if (this.#part === part) this.#part = undefined;
  }

  removeParts(): void {
    this.#part = this.#parts = undefined;
  }
}
