/** EventMQ broker, rule 15: what the broker keeps for each client, so that the client with most makes room for others. No protocol decisions. */
import { check } from '../../../shared/check.js';
import { surplusOf } from '../../../shared/displacement.js';
import { HolderClasses, Holding } from '../../../shared/holder-classes.js';
import { QueueSlot, RemovableQueue } from '../../../shared/removable-queue.js';
import { Share, Shares } from '../../../shared/shares.js';
import type { Job } from './job.js';

/** A client with fewer waiting jobs in a queue, or with fewer bytes in total, never makes room for others. */
const LEAST_JOBS = 16;
const LEAST_BYTES = 65_536;
/** What a client may have of all bytes before it adds to a queue that nobody serves: such a queue may never become shorter. */
const UNSERVED_PART = 1 / 32;

/** For an unknown client. */
const NOTHING = new Share();

/** A client with waiting or kept jobs. Only {@link ClientBacklogs} changes it. */
export class ClientEntry {
  readonly key: string;
  /** Bytes of its waiting jobs that may make room for others. */
  readonly held = new Holding<ClientEntry>(this);
  /** Bytes of jobs that are kept until a worker answers them (rule 17). */
  readonly kept = new Share();
  /** Its backlogs with jobs that may make room. */
  readonly backlogs = new RemovableQueue<ClientBacklog>();
  /** Queues in which it has a backlog. */
  places = 0;

  constructor(key: string) {
    this.key = key;
  }
}

/** The jobs of one client that wait in one queue, or are being stored, without those that came back from a worker. */
export class ClientBacklog {
  readonly client: ClientEntry;
  readonly places: Places;
  /** Those that may make room for others: all but the guaranteed ones. */
  readonly loose = new RemovableQueue<Job>();
  readonly share = new Holding<ClientBacklog>(this);
  readonly guaranteed = new Share();
  /** Place among the client's backlogs. */
  readonly own = new QueueSlot<ClientBacklog>(this);

  constructor(client: ClientEntry, places: Places) {
    this.client = client;
    this.places = places;
  }
}

/** How many jobs each client has waiting in one queue. Only {@link ClientBacklogs} changes it. */
export class Places {
  readonly byClient = new Map<string, ClientBacklog>();
  readonly holders = new HolderClasses<ClientBacklog>(LEAST_JOBS);
  readonly guaranteed: Shares;

  constructor(max: number) {
    this.guaranteed = new Shares(max);
  }

  /** Whether the client may have one more guaranteed job waiting here. */
  mayGuarantee(asker: string): boolean {
    return this.guaranteed.mayHold(this.byClient.get(asker)?.guaranteed ?? NOTHING, 1);
  }

  /** The newest jobs of clients that have far more waiting here than this one. */
  surplus(asker: string): Iterable<Job> {
    const mine = (this.byClient.get(asker)?.share.amount ?? 0) + 1;
    const hoardOf = ({ share, loose }: ClientBacklog) => ({ held: share.amount, newest: loose.newest() });
    return surplusOf(this.holders, mine, hoardOf, () => 1);
  }
}

/** The backlogs of all clients. Every operation but `surplus` is O(1). */
export class ClientBacklogs {
  readonly #clients = new Map<string, ClientEntry>();
  readonly #holders = new HolderClasses<ClientEntry>(LEAST_BYTES);
  readonly #kept: Shares;
  readonly #unservedMax: number;

  constructor(options: { readonly queueMaxBytes: number }) {
    this.#kept = new Shares(options.queueMaxBytes);
    this.#unservedMax = Math.max(LEAST_BYTES, options.queueMaxBytes * UNSERVED_PART);
  }

  /** Clients with waiting or kept jobs. */
  get size(): number {
    return this.#clients.size;
  }

  /** Whether the client may have one more job waiting in a queue that nobody serves. */
  mayWaitUnserved(asker: string): boolean {
    const client = this.#clients.get(asker);
    return client === undefined || client.held.amount + client.kept.held < this.#unservedMax;
  }

  /** Whether the client may have this many more bytes kept until a worker answers. */
  mayKeep(asker: string, cost: number): boolean {
    return this.#kept.mayHold(this.#clients.get(asker)?.kept ?? NOTHING, cost);
  }

  /** The newest waiting jobs of clients that have far more bytes waiting than this one would have with this many more. */
  surplus(asker: string, cost: number): Iterable<Job> {
    const mine = (this.#clients.get(asker)?.held.amount ?? 0) + cost;
    const hoardOf = ({ held, backlogs }: ClientEntry) => ({ held: held.amount, newest: newestOf(backlogs.newest()) });
    return surplusOf(this.#holders, mine, hoardOf, (job) => job.cost);
  }

  /** A job that is kept until a worker answers it is accepted. */
  keep(job: Job): void {
    job.keeper = this.#client(job.asker);
    this.#kept.put(job.keeper.kept, job.cost);
  }

  /** It is no longer kept; call this before its cost changes. */
  release(job: Job): void {
    const { keeper } = job;
    if (keeper === undefined) return;
    job.keeper = undefined;
    this.#kept.give(keeper.kept, job.cost);
    this.#tidy(keeper);
  }

  /** The job begins to wait, or is being stored. */
  enter(job: Job, places: Places): void {
    const asker = job.asker;
    let backlog = places.byClient.get(asker);
    if (backlog === undefined) {
      backlog = new ClientBacklog(this.#client(asker), places);
      places.byClient.set(asker, backlog);
      backlog.client.places++;
    }
    job.backlog = backlog;
    if (job.guarantee) places.guaranteed.put(backlog.guaranteed, 1);
    else {
      if (backlog.loose.size === 0) backlog.client.backlogs.push(backlog.own);
      backlog.loose.push(job.kindred);
      places.holders.add(backlog.share, 1);
      this.#holders.add(backlog.client.held, job.cost);
    }
  }

  /** It no longer waits, or never did. */
  leave(job: Job): void {
    const { backlog } = job;
    if (backlog === undefined) return;
    const { client, places } = backlog;
    job.backlog = undefined;
    if (job.guarantee) places.guaranteed.give(backlog.guaranteed, 1);
    else {
      backlog.loose.remove(job.kindred);
      if (backlog.loose.size === 0) client.backlogs.remove(backlog.own);
      places.holders.add(backlog.share, -1);
      this.#holders.add(client.held, -job.cost);
    }
    if (backlog.loose.size + backlog.guaranteed.held > 0) return;
    places.byClient.delete(client.key);
    client.places--;
    this.#tidy(client);
  }

  #client(key: string): ClientEntry {
    let client = this.#clients.get(key);
    if (client === undefined) this.#clients.set(key, (client = new ClientEntry(key)));
    return client;
  }

  #tidy(client: ClientEntry): void {
    if (client.places === 0 && client.kept.held === 0) this.#clients.delete(client.key);
  }

  /** Throws if the counts do not match `jobs`, which are all that wait, run, or are being stored. Linear. */
  assertInvariants(jobs: Iterable<Job>): void {
    const kept = new Map<ClientEntry, number>();
    const held = new Map<ClientEntry, number>();
    const loose = new Map<ClientBacklog, number>();
    const guaranteed = new Map<ClientBacklog, number>();
    const count = <Key>(sums: Map<Key, number>, key: Key, more: number) => sums.set(key, (sums.get(key) ?? 0) + more);
    for (const { backlog, keeper, guarantee, cost } of jobs) {
      if (keeper !== undefined) count(kept, keeper, cost);
      if (backlog === undefined) continue;
      count(held, backlog.client, guarantee ? 0 : cost);
      count(loose, backlog, guarantee ? 0 : 1);
      count(guaranteed, backlog, guarantee ? 1 : 0);
    }
    for (const client of this.#clients.values()) {
      check(kept.has(client) || held.has(client), 'a client is known for what the broker keeps');
      check(client.kept.held === (kept.get(client) ?? 0), 'clients count what is kept for them');
      check(client.held.amount === (held.get(client) ?? 0), 'clients count what they have waiting');
    }
    for (const client of [...kept.keys(), ...held.keys()])
      check(this.#clients.get(client.key) === client, 'the client of a waiting job is known');
    for (const [backlog, jobsOf] of loose) {
      check(backlog.loose.size === jobsOf && backlog.share.amount === jobsOf, 'jobs that may make room are counted');
      check(backlog.guaranteed.held === guaranteed.get(backlog), 'guaranteed jobs are counted');
      check(backlog.own.taken === jobsOf > 0, 'who can make room is found');
    }
  }
}

function* newestOf(backlogs: Iterable<ClientBacklog>): Generator<Job> {
  for (const { loose } of backlogs) yield* loose.newest();
}
