/** PZQ: the state of the queue engine, shared by its policies. */
import type { Entropy } from '@proj/transport';
import type { PzqSettings } from '../options.js';
import { ReadyWindow } from './delivery/window.js';
import { type CommitOwner, Commits } from './producers/commits.js';
import { ConsumerSide, type ConsumerSideOwner } from './delivery/consumer-side.js';
import type { PzqOutletName, PzqStoreInfo } from './events.js';
import { InFlight, type Message } from './delivery/in-flight.js';
import { LeaseFetcher } from './delivery/shared-leases.js';
import type { Whereabouts } from './legality.js';
import { Output } from './output.js';
import { PendingBatch } from './producers/pending-batch.js';
import { ProducerSide } from './producers/producer-side.js';

/** Settled messages waiting for a commit may be this many times `maxInFlight`; beyond it deliveries wait. */
const UNFLUSHED_FACTOR = 10;
/** Memory of a message besides its body. */
const MESSAGE_BYTES = 768;

/** An outlet of the queue: the messages in memory, and those that only the store has. */
export interface Way {
  readonly side: ConsumerSide;
  readonly window: ReadyWindow;
}

/** A message in memory, with its outlet. */
export interface FoundMessage {
  readonly way: Way;
  readonly message: Message;
}

/** Decides what happens to messages. */
export interface Owners {
  readonly queue: ConsumerSideOwner;
  readonly dead: ConsumerSideOwner;
  readonly commits: CommitOwner;
}

/** State of one queue engine. */
export class QueueState {
  readonly settings: PzqSettings;
  readonly store: PzqStoreInfo;
  readonly entropy: Entropy;
  readonly out = new Output();
  readonly inFlight: InFlight;
  readonly pending = new PendingBatch();
  readonly producers: ProducerSide;
  readonly commits: Commits;
  readonly queue: Way;
  /** Absent if dead letters are not delivered. */
  readonly dead: Way | undefined;
  readonly ways: readonly Way[];
  /** Present if servers share the store: it keeps the leases. */
  readonly leases: LeaseFetcher | undefined;
  phase: 'new' | 'serving' | 'draining' | 'drained' = 'new';
  /** Rule 40. */
  isPaused = false;

  constructor(settings: PzqSettings, store: PzqStoreInfo, entropy: Entropy, owners: Owners) {
    this.settings = settings;
    this.store = store;
    this.entropy = entropy;
    this.inFlight = new InFlight(settings);
    this.producers = new ProducerSide(settings, entropy, this.out);
    this.commits = new Commits(settings, store.counts, this.producers, this.pending, this.out, owners.commits);
    this.queue = this.#newWay('queue', owners.queue, store.counts.messages === 0);
    this.dead = settings.deadLetterSend
      ? this.#newWay('dead-letters', owners.dead, store.counts.dead === 0)
      : undefined;
    this.ways = this.dead === undefined ? [this.queue] : [this.queue, this.dead];
    this.leases = store.shared ? new LeaseFetcher(settings, this.out) : undefined;
  }

  way(name: PzqOutletName): Way {
    return name === 'queue' || this.dead === undefined ? this.queue : this.dead;
  }

  /** A message in memory, with its outlet. */
  find(seq: number): FoundMessage | undefined {
    const letter = this.dead?.side.find(seq);
    if (this.dead !== undefined && letter !== undefined) return { way: this.dead, message: letter };
    const message = this.queue.side.find(seq);
    return message && { way: this.queue, message };
  }

  /** The state of a message: `message`, if it is in memory. */
  whereaboutsOf(seq: number, message: Message | undefined): Whereabouts {
    // Nothing stays `returned` or `gone` beyond the call that made it so.
    if (message !== undefined) return message.where as Whereabouts;
    if (this.pending.removes(seq)) return 'settled';
    return this.queue.window.hides(seq) ? 'leaving' : 'stored';
  }

  /** The message must no longer be delivered through this outlet, in any state. */
  forget(seq: number, { side, window }: Way): void {
    const message = side.find(seq);
    if (message !== undefined) side.take(message);
    window.hide(seq);
  }

  /** The store has the message on this side, for the next load to find, unless a consumer has settled it meanwhile. */
  reveal(seq: number, way: Way | undefined): void {
    if (!this.pending.removes(seq)) way?.window.reveal(seq);
  }

  /** Rule 9 continues without a store, up to a limit. */
  get unflushedFull(): boolean {
    return this.pending.removals >= UNFLUSHED_FACTOR * this.settings.maxInFlight;
  }

  get delivers(): boolean {
    return this.phase === 'serving' && !this.unflushedFull && !this.commits.corrupt;
  }

  get heldBytes(): number {
    const { bytes, messages, dead } = this.commits.counts;
    let { heldBytes } = this.producers;
    // An in-memory store has them all, ready or not.
    if (this.store.name === 'memory') return heldBytes + bytes + (messages + dead) * MESSAGE_BYTES;
    for (const { side } of this.ways) heldBytes += side.readyBytes + side.inFlightBytes + side.size * MESSAGE_BYTES;
    return heldBytes;
  }

  #newWay(name: PzqOutletName, owner: ConsumerSideOwner, isEmpty: boolean): Way {
    const { epoch, lastSeq } = this.store;
    const side = new ConsumerSide(name, epoch, this.settings, this.entropy, this.inFlight, this.out, owner);
    return { side, window: new ReadyWindow(this.settings, lastSeq, isEmpty, side, this.out) };
  }
}
