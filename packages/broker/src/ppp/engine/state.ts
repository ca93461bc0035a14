/** Paranoid Pirate: the engines' state. Only `backend.ts`, `dispatcher.ts` and the two engines change it. */
import { compactAll } from '@proj/frames';
import { encodePppCorrelation } from '@proj/frames/ppp';
import type { PppAddresses, PppClientRequest, PppContent } from '@proj/frames/ppp';
import { Deadline, DeadlineList, HeapDeadline } from '@proj/heartbeat';
import { keepOneOfMany, keptFrames, type KeptBody, type Timed } from '@proj/transport/engine';
import { Budget } from '../../shared/budget.js';
import { ClientRecord } from '../../shared/clients.js';
import { frameCost, requestCost } from '../../shared/cost.js';
import { Errands, QUIET_SLICE } from '../../shared/errands.js';
import { type ClientQueue, FairQueue } from '../../shared/fair-queue.js';
import { Holding } from '../../shared/holder-classes.js';
import { QueueSlot, RemovableQueue } from '../../shared/removable-queue.js';
import { Slack } from '../../shared/slack.js';
import { WorkerEntry, WorkerTable } from '../../shared/worker-table.js';
import { Rates } from '../../shared/rates.js';
import type { PppBackendSettings } from '../options.js';
import type { PppRequestLoss } from './events.js';
import type { PppCounters } from './output.js';

/** An accepted request until it is answered or given up: it waits in the queue or runs at one worker. */
export abstract class Request implements Timed {
  /** Sent to the worker and returned by it. The first address identifies the client and its request. */
  addresses: PppAddresses;
  #kept: KeptBody;
  /** Bytes taken from the budget. */
  readonly cost: number;
  /** Memory held beyond that while it waits. */
  slack = 0;
  /** Number of workers it was given to, including the current one. */
  attempts = 0;
  /** When it began to wait, or was given to its worker. */
  sinceSpan = 0;
  sinceUs = 0;
  /** Why nobody waits for the reply any more. */
  abstract readonly abandoned: PppRequestLoss | undefined;
  readonly place = new QueueSlot<this>(this);

  constructor(addresses: PppAddresses, content: PppContent) {
    this.addresses = addresses;
    this.#kept = content;
    this.cost = requestCost(content) + frameCost(addresses);
  }

  get content(): PppContent {
    return keptFrames(this.#kept);
  }

  /** The client whose turn it takes in the queue; a pool's calls share one. */
  get asker(): unknown {
    return '';
  }

  /** It begins to wait, in its own memory if no slack is left. */
  settle(slack: Slack): void {
    const { addresses, content } = this;
    // A single address is a routing id or a number of ours, and is small and kept in any case.
    const taken = slack.take(addresses.length === 1 ? content : [...addresses, ...content]);
    if (taken !== undefined) this.slack = taken;
    else {
      this.addresses = compactAll(addresses);
      this.#kept = keepOneOfMany(content);
    }
  }

  /** It no longer waits. */
  leave(slack: Slack): void {
    slack.give(this.slack);
    this.slack = 0;
  }
}

/** A client at the frontend of a queue. */
export class ClientEntry extends ClientRecord {
  /** Its open requests, running ones included. */
  open = 0;
  readonly waiting = new RemovableQueue<ClientQueue<ClientRequest>>();
  /** The cost of the waiting ones that may make room for others: all but those at the queue's front. */
  readonly held = new Holding<ClientEntry>(this);
}

/** A request of a client (rules 14 and 15). */
export class ClientRequest extends Request {
  readonly client: ClientEntry;
  /** True when it came without an address stack, so its reply goes back without one. */
  readonly bare: boolean;
  /** What it adds to `held` of its client: its cost while it waits, unless it came back from a worker. */
  held = 0;
  /** When it has waited too long. */
  readonly expiry = new Deadline<ClientRequest>(this);

  constructor(client: ClientEntry, { hops, content }: PppClientRequest) {
    super(hops === undefined || hops.length === 0 ? [client.peer.id] : [client.peer.id, ...hops], content);
    this.client = client;
    this.bare = hops === undefined;
  }

  override get asker(): ClientEntry {
    return this.client;
  }

  override get abandoned(): PppRequestLoss | undefined {
    return this.client.gone ? 'client-gone' : undefined;
  }
}

/** A request of this process, at a pool. Its id takes the place of a client's address. */
export class PoolCall extends Request {
  readonly key: number;
  readonly timeoutMs: number;
  override abandoned: PppRequestLoss | undefined;
  readonly expiry = new HeapDeadline<PoolCall>(this);

  constructor(id: number, content: PppContent, timeoutMs: number) {
    super([encodePppCorrelation(id)], content);
    this.key = id;
    this.timeoutMs = timeoutMs;
  }
}

/** A registered worker. All workers of a queue or pool do the same work. */
export class Worker<Request> extends WorkerEntry<Request> {
  /** Rule 16: when its job has taken too long. */
  readonly jobExpiry = new Deadline<this>(this);
  /** Rule 21: it is forgotten when its job has ended. */
  isLeaving = false;
  /** Requests that were resent because it lost them. */
  resends = 0;
}

/** The state of the workers' side between two steps. */
export interface BrokerState<Asked extends Request> {
  readonly workers: WorkerTable<Worker<Asked>>;
  /** Rule 8: workers without a job, the one idle longest first. */
  readonly idle: RemovableQueue<Worker<Asked>>;
  /** Rules 13 and 14: requests that no worker could take at once. While a worker is idle, only what clients left is here. */
  readonly queue: FairQueue<Asked>;
  /** Rule 14: bytes of all open requests, and whether the process has no memory for more that wait. */
  readonly bytes: Budget;
  /** Memory that waiting requests hold beyond those bytes. */
  readonly slack: Slack;
  /** Rule 15: dropping what clients left waiting. */
  readonly errands: Errands;
  /** How often each peer may register. */
  readonly registrations: Rates;
  /** Rule 16: busy workers by the age of their jobs; `undefined` when jobs have no time limit. */
  readonly jobs: DeadlineList<Worker<Asked>> | undefined;
}

/** The state at the start. */
export function newBrokerState<Asked extends Request>(settings: PppBackendSettings): BrokerState<Asked> {
  const bytes = new Budget(settings.requestQueueMaxBytes);
  return {
    workers: new WorkerTable(settings),
    idle: new RemovableQueue(),
    queue: new FairQueue(settings.requestQueueMax),
    bytes,
    slack: new Slack(bytes),
    errands: new Errands(QUIET_SLICE),
    registrations: new Rates(settings.registrationsPerSecondMax),
    jobs: settings.jobTimeoutMs > 0 ? new DeadlineList(settings.jobTimeoutMs) : undefined,
  };
}

/** A snapshot of a pool: plain immutable data. */
export interface PppPoolStats {
  readonly counters: Readonly<PppCounters>;
  /** Registered workers, busy ones included. */
  readonly workers: number;
  readonly busy: number;
  /** Requests in the queue. */
  readonly waiting: number;
  /** Requests accepted and neither answered nor given up, waiting or running. */
  readonly openRequests: number;
  /** Their cost in the measure of `requestQueueMaxBytes`. */
  readonly openBytes: number;
}

/** A snapshot of a queue. */
export interface PppQueueStats extends PppPoolStats {
  /** Clients with open requests. */
  readonly clients: number;
}
