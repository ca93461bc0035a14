/**
 * PZQ, the queue server: what is kept, who gets it, and when it is over. The rules are those of docs/protocols/pzq.md.
 *
 * | rules | where |
 * | --- | --- |
 * | 1 to 6, 18 producers, their answers, limits | `intake.ts`, `refusals.ts` |
 * | 2, 7 to 9 group commit, a store that fails | `commits.ts`, `changes.ts` |
 * | 10 to 12, 16, 17 order, offers, leases | `outlet.ts`, `message.ts`, `consumers.ts` |
 * | 10, 20, 25 what is in memory | `shelf.ts` |
 * | 13 to 15 consumers' answers | `#onConsumer` |
 * | 19 drain | `#onDrain`, `#finish` |
 * | 22 monitor | `monitor.ts` |
 * | 30 shared stores | `taker.ts`, `#supplyShared` |
 * | 32 to 38 delays, lifetimes, dead letters, leases | `moments.ts`, `#expire`, `#giveUp`, `#onExtension` |
 */
import {
  decodePzqKey,
  type PzqFromConsumer,
  type PzqFromMonitor,
  type PzqFromProducer,
  type PzqKey,
} from '@proj/frames/pzq';
import type { Access, Engine, Entropy, MemoryBudget, Peer, TimerEvent } from '@proj/transport';
import { PendingBatch, type Request } from './pending-batch.js';
import { type CommitOwner, Commits, CORRUPT } from './commits.js';
import type { PzqEffect, PzqEvent, PzqOutletName, PzqStoreFailure, PzqStoreInfo } from './events.js';
import { ProducerSide } from './producer-side.js';
import { assertBooks } from './invariants.js';
import { InFlight, type Message } from './message.js';
import { Schedule } from './schedule.js';
import { monitorText } from './monitor.js';
import { ConsumerSide, type OutletOwner } from './consumer-side.js';
import { Output } from './output.js';
import { type Refusal, REFUSALS } from './refusals.js';
import type { PzqSettings } from './settings.js';
import { Backlog } from './backlog.js';
import type { PzqStats } from './stats.js';
import type { DeathReason, DueMessages, Removal, StoredMessage } from '../store/store.js';
import { LeaseFetcher } from './lease-fetcher.js';

/** A timer that comes later than this says that acknowledgements may lie unread in our sockets. */
const LATE_MS = 100;
/** Settled messages that wait for a commit may be this many times `maxInFlight`; beyond it deliveries wait. */
const UNFLUSHED_FACTOR = 10;
/** More would leave the safe integers. */
const MOST_DOUBLINGS = 32;

/** A way out of the queue, and what lies in the store for it. */
interface Way {
  readonly outlet: ConsumerSide;
  readonly shelf: Backlog;
}

/** The message leaves this way: it is not to be delivered there any more, wherever it is. */
function forget(seq: number, { outlet, shelf }: Way): void {
  const message = outlet.find(seq);
  if (message !== undefined) outlet.take(message);
  shelf.hide(seq);
}

/** What a message in memory occupies beside its body. */
const MESSAGE_BYTES = 768;

/** The PZQ server as a deterministic machine. It never throws on anything a peer can cause. */
export class PzqEngine implements Engine<PzqEvent, PzqEffect> {
  readonly #settings: PzqSettings;
  readonly #store: PzqStoreInfo;
  readonly #entropy: Entropy;
  readonly #memory: Pick<MemoryBudget, 'stats'> | undefined;
  readonly #out = new Output();
  readonly #inFlight: InFlight;
  readonly #changes = new PendingBatch();
  readonly #intake: ProducerSide;
  readonly #commits: Commits;
  readonly #queue: Way;
  /** Absent when dead letters are not delivered. */
  readonly #dead: Way | undefined;
  readonly #moments: Schedule;
  readonly #taker: LeaseFetcher | undefined;
  #state: 'new' | 'serving' | 'draining' | 'drained' = 'new';
  #startedAt = 0;
  /** Rule 39. */
  #rights: { readonly access: Access; readonly name: string } | undefined;
  #drainUntil = Infinity;
  /** Rule 18: the process has no room for more. */
  #isTight = false;

  /**
   * `store` is what opening it has told; its `counts` and `lastSeq` are kept up to date by the events of commits. `memory` is asked when
   * the monitor is.
   */
  constructor(settings: PzqSettings, store: PzqStoreInfo, entropy: Entropy, memory?: Pick<MemoryBudget, 'stats'>) {
    this.#settings = settings;
    this.#store = store;
    this.#entropy = entropy;
    this.#memory = memory;
    this.#inFlight = new InFlight(settings);
    this.#intake = new ProducerSide(settings, entropy, this.#out);
    this.#commits = new Commits(settings, store.counts, this.#intake, this.#changes, this.#out, this.#commitOwner);
    this.#queue = this.#newWay('queue', this.#queueOwner, store.counts.messages === 0);
    this.#dead = settings.deadLetterSend
      ? this.#newWay('dead-letters', this.#deadOwner, store.counts.dead === 0)
      : undefined;
    this.#moments = new Schedule(settings.probeIntervalMs, entropy, this.#out);
    this.#taker = store.shared ? new LeaseFetcher(settings, this.#out) : undefined;
  }

  get deadline(): number {
    if (this.#state === 'new' || this.#state === 'drained') return Infinity;
    const delivers = this.#delivers;
    return Math.min(
      this.#queue.outlet.deadline(delivers),
      this.#dead?.outlet.deadline(delivers) ?? Infinity,
      this.#commits.deadline,
      this.#drainUntil,
      this.#state === 'serving' ? this.#supplyDeadline : Infinity,
    );
  }

  get heldBytes(): number {
    const { counts } = this.#commits;
    const ways = this.#dead === undefined ? [this.#queue] : [this.#queue, this.#dead];
    let { heldBytes } = this.#intake;
    // A store in memory has them all, whether they are in an outlet or not.
    if (this.#store.name === 'memory') heldBytes += counts.bytes + (counts.messages + counts.dead) * MESSAGE_BYTES;
    else
      for (const { outlet } of ways)
        heldBytes += outlet.readyBytes + outlet.inFlightBytes + outlet.size * MESSAGE_BYTES;
    return heldBytes;
  }

  step(event: PzqEvent | TimerEvent, now: number): readonly PzqEffect[] {
    this.#out.begin(now);
    if (this.#state === 'drained') return this.#out.effects;
    this.#handle(event);
    if (this.#state !== 'new') this.#commits.pump();
    this.#compareBooks();
    // A commit that has begun makes room for deliveries, and those may give up messages, which is again to be written.
    if (this.#state === 'serving') {
      this.#supply();
      this.#commits.pump();
    }
    if (this.#state === 'draining' && this.#isOver) this.#finish();
    return this.#out.effects;
  }

  /** Sizes now and totals so far. */
  stats(): PzqStats {
    const { messages, bytes, delayed, dead, storeBytes } = this.#commits.counts;
    const inFlight = this.#queue.outlet.inFlight + (this.#dead?.outlet.inFlight ?? 0);
    const elsewhere =
      delayed +
      this.#queue.outlet.inFlight +
      this.#queue.outlet.resting +
      this.#changes.removals +
      this.#changes.burials;
    const { counters } = this.#out;
    return {
      counters: { ...counters, dropped: { ...counters.dropped } },
      messages,
      bytes,
      inFlight,
      inFlightBytes: this.#queue.outlet.inFlightBytes + (this.#dead?.outlet.inFlightBytes ?? 0),
      ready: Math.max(messages - elsewhere, 0),
      delayed: delayed + this.#queue.outlet.resting,
      dead,
      storeBytes: this.#store.name === 'memory' ? bytes : storeBytes,
      window: this.#queue.outlet.ready,
      producerAcksPending: this.#intake.waiting,
      store: this.#store.name,
      storeState: this.#commits.corrupt ? 'corrupt' : this.#commits.refusing === undefined ? 'ok' : 'refusing',
    };
  }

  assertInvariants(): void {
    assertBooks({
      settings: this.#settings,
      ways: this.#dead === undefined ? [this.#queue] : [this.#queue, this.#dead],
      inFlight: this.#inFlight,
      intake: this.#intake,
      committing: this.#commits.committing,
      counters: this.#out.counters,
      shared: this.#store.shared,
      drained: this.#state === 'drained',
    });
  }

  #handle(event: PzqEvent | TimerEvent): void {
    switch (event.kind) {
      case 'start':
        this.#onStart();
        break;
      case 'produce':
        this.#onProduce(event.peer, event.command, event.acksWaiting);
        break;
      case 'consumer':
        this.#onConsumer(event.outlet, event.command);
        break;
      case 'delivered':
        this.#way(event.outlet).outlet.delivered(event.peer);
        if (event.outlet === 'queue') this.#taker?.delivered();
        break;
      case 'consumer-came':
        this.#way(event.outlet).outlet.consumers.came(event.peer);
        break;
      case 'consumer-gone':
        this.#way(event.outlet).outlet.consumers.gone(event.peer);
        break;
      case 'blocked':
        this.#onBlocked(event.outlet);
        break;
      case 'committed':
        this.#commits.committed(event.result);
        break;
      case 'commit-failed':
        this.#commits.failed(event);
        break;
      case 'probed':
        this.#commits.probed();
        break;
      case 'probe-failed':
        this.#commits.probeFailed(event);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'loaded':
        this.#way(event.outlet).shelf.loaded(event.messages);
        break;
      case 'load-failed':
        this.#onReadFailed(event);
        this.#way(event.outlet).shelf.loadFailed();
        break;
      case 'due':
        this.#onDue(event.messages);
        break;
      case 'due-failed':
        this.#onReadFailed(event);
        this.#queue.shelf.endRead();
        this.#moments.answered(false);
        break;
      case 'taken':
        this.#onTaken(event.messages);
        break;
      case 'take-failed':
        this.#onReadFailed(event);
        this.#queue.shelf.endRead();
        this.#taker?.stalled();
        break;
      case 'monitor':
        this.#onMonitor(event.peer, event.command);
        break;
      case 'rejected':
        this.#out.drop(event.reason, event.socket, event.peer);
        break;
      case 'ack-undeliverable':
        this.#out.loseAck(event.reason, event.peer);
        break;
      case 'revive':
        this.#onRequest(event.seqs);
        this.#changes.revive(event.id, event.seqs);
        break;
      case 'discard':
        this.#onRequest(event.letters.map(({ seq }) => seq));
        this.#changes.discard(event.id, event.letters);
        break;
      case 'access':
        this.#rights = event;
        break;
      case 'memory':
        this.#isTight = event.isTight;
        break;
      case 'drain':
        this.#onDrain();
        break;
    }
  }

  #onStart(): void {
    this.#state = 'serving';
    this.#startedAt = this.#out.now;
    this.#moments.expect(this.#commits.counts.nextDueMicros, true);
  }

  #onProduce(peer: Peer, command: PzqFromProducer, acksWaiting: number): void {
    if (command.kind === 'malformed') {
      this.#out.drop(command.reason, 'receive', peer);
      return;
    }
    this.#intake.accept(peer, command, acksWaiting, this.#commits.counts, this.#closedTo(peer));
  }

  #closedTo(peer: Peer): Refusal | undefined {
    if (this.#forbids(peer, '')) return REFUSALS['not-allowed'];
    if (this.#state === 'draining') return REFUSALS.draining;
    return this.#commits.refusal ?? (this.#isTight ? REFUSALS['queue-full-bytes'] : undefined);
  }

  /** Rule 39: whether this peer may not ask for what has this name behind that of the queue. */
  #forbids(peer: Peer, suffix: string): boolean {
    return this.#rights !== undefined && !this.#rights.access.allows(peer, 'request', this.#rights.name + suffix);
  }

  /** Rules 13 to 15. */
  #onConsumer(outlet: PzqOutletName, command: PzqFromConsumer): void {
    if (command.kind === 'malformed') {
      this.#out.drop(command.reason, outlet);
      return;
    }
    const key = decodePzqKey(command.key);
    if (key === undefined || !this.#isOurs(key)) {
      this.#out.drop('key-unknown', outlet);
    } else if (command.kind === 'lease-extension') {
      this.#onExtension(outlet, key);
    } else if (command.positive) {
      this.#onPositive(outlet, key);
    } else {
      this.#onNegative(outlet, key);
    }
  }

  /** A message in memory must have been stored when the key says; for others the store looks. */
  #isOurs({ epoch, seq, storedMicros }: PzqKey): boolean {
    if (epoch !== this.#store.epoch || (this.#taker === undefined && seq > this.#queue.shelf.top)) return false;
    const message = this.#find(seq)?.message;
    return message === undefined || message.stored.storedMicros === storedMicros;
  }

  /** Rule 13: never delivered again from here on, and removed with the next commit. Rule 14: late ones as well. */
  #onPositive(outlet: PzqOutletName, { seq, storedMicros }: PzqKey): void {
    const found = this.#find(seq);
    if (found !== undefined) {
      const { counters } = this.#out;
      counters.acked++;
      if (found.message.where === 'ready' || found.message.where === 'resting') counters.ackedLate++;
      forget(seq, found.way);
      this.#changes.remove(seq, storedMicros, 'memory');
    } else if (this.#changes.removes(seq) || this.#unflushedFull) {
      this.#out.drop('key-unknown', outlet);
    } else {
      // On disk only, or on its way to the dead letters, or gone: the store knows.
      this.#queue.shelf.hide(seq);
      this.#dead?.shelf.hide(seq);
      this.#changes.remove(seq, storedMicros, 'key');
    }
  }

  #onNegative(outlet: PzqOutletName, { seq }: PzqKey): void {
    const found = this.#find(seq);
    if (found !== undefined) {
      found.way.outlet.giveBack(found.message);
    } else if (this.#taker !== undefined && !this.#queue.shelf.hides(seq)) {
      // Another server may have delivered it; of a message that nobody has the store keeps it as it is.
      this.#out.push({ kind: 'release', seqs: [seq], delayMs: this.#settings.nackDelayMs });
    } else {
      this.#out.drop('key-unknown', outlet);
    }
  }

  #onExtension(outlet: PzqOutletName, { seq }: PzqKey): void {
    const found = this.#find(seq);
    const extended =
      this.#settings.extendLease &&
      (found === undefined
        ? this.#taker !== undefined && !this.#queue.shelf.hides(seq)
        : found.way.outlet.extend(found.message));
    if (!extended) {
      this.#out.drop('extension-ignored', outlet);
      return;
    }
    this.#out.counters.extended++;
    if (this.#taker !== undefined) this.#out.push({ kind: 'extend', seqs: [seq], leaseMs: this.#taker.leaseMs });
  }

  #onMonitor(peer: Peer, command: PzqFromMonitor): void {
    if (command.kind === 'malformed') {
      this.#out.drop(command.reason, 'monitor', peer);
      return;
    }
    if (this.#forbids(peer, '.monitor')) {
      this.#out.drop('not-allowed', 'monitor', peer);
      return;
    }
    this.#out.counters.monitorReplies++;
    const text = monitorText(
      this.stats(),
      this.#out.now - this.#startedAt,
      this.#settings.version,
      this.#memory?.stats(),
    );
    this.#out.push({
      kind: 'monitor-reply',
      peer,
      command: { kind: 'monitor-reply', text },
    });
  }

  #onBlocked(name: PzqOutletName): void {
    this.#way(name).outlet.blocked();
    if (name !== 'queue' || this.#taker === undefined) return;
    this.#taker.stalled();
    this.#releaseReady();
  }

  #onTimer(lateMs: number): void {
    if (lateMs > LATE_MS) {
      const credit = Math.min(lateMs, this.#settings.ackTimeoutMs);
      this.#queue.outlet.postpone(credit);
      this.#dead?.outlet.postpone(credit);
      this.#out.runningLate(lateMs);
    }
    this.#queue.outlet.onTimer();
    this.#dead?.outlet.onTimer();
  }

  /** Rules 32 and 33. A moment that cannot be acted upon, since the message is with a consumer, is over as well. */
  #onDue({ ready, expired }: DueMessages): void {
    for (const message of ready) if (this.#queue.shelf.put(message)) this.#changes.passed(message.seq);
    for (const removal of expired) {
      const message = this.#queue.outlet.find(removal.seq);
      if (message === undefined ? !this.#queue.shelf.hides(removal.seq) : message.where === 'ready')
        this.#expire(removal);
      else if (message !== undefined) this.#changes.passed(removal.seq);
    }
    this.#queue.shelf.endRead();
    this.#moments.answered(ready.length + expired.length > 0);
  }

  /** A message in flight that the store gives out once more was given back at another server, or its lease there is over. */
  #onTaken(messages: readonly StoredMessage[]): void {
    for (const message of messages) {
      const known = this.#queue.outlet.find(message.seq);
      if (known?.where === 'in-flight') this.#queue.outlet.take(known);
      this.#queue.shelf.put(message);
    }
    this.#queue.shelf.endRead();
    this.#taker?.taken(messages.length);
  }

  #onReadFailed({ code, what = code }: PzqStoreFailure): void {
    if (code === CORRUPT) this.#commits.damaged(what);
    else this.#out.readFailed(code);
  }

  /**
   * A store that shows fewer messages than it says it holds has lost some: a damage that no reading meets. Known once everything
   * is in memory and nothing is on its way.
   */
  #compareBooks(): void {
    const { shelf, outlet } = this.#queue;
    if (this.#taker !== undefined || shelf.reading || shelf.cursor < shelf.top || !this.#commits.idle) return;
    const { messages, delayed } = this.#commits.counts;
    if (outlet.size >= messages - delayed) return;
    this.#commits.damaged(
      `the store says that ${messages - delayed} messages are ready and shows ${outlet.size}: see 'proj queue check'`,
    );
  }

  /** Dead letters that are to leave must not be delivered meanwhile. */
  #onRequest(seqs: readonly number[]): void {
    if (this.#dead === undefined) return;
    for (const seq of seqs) forget(seq, this.#dead);
  }

  #onDrain(): void {
    if (this.#state === 'draining') return;
    this.#state = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    if (this.#taker !== undefined) this.#releaseReady();
  }

  /** Rule 19: everything is written, and nobody works at a message, or the time for it is over. */
  get #isOver(): boolean {
    if (this.#out.now >= this.#drainUntil) return true;
    const busy = [this.#queue, this.#dead].some(
      (way) => way !== undefined && (way.outlet.inFlight > 0 || way.outlet.offering),
    );
    return this.#commits.idle && !busy;
  }

  #finish(): void {
    this.#state = 'drained';
    this.#intake.refuseAll(REFUSALS.draining);
    const open = [...this.#changes.take(Infinity).requests, ...(this.#commits.changing?.requests ?? [])];
    for (const { id } of open) this.#out.push({ kind: 'done', id, code: 'CLOSED' });
    this.#out.push({ kind: 'drained' });
  }

  /** Rule 9 goes on without a store, up to a bound. */
  get #unflushedFull(): boolean {
    return this.#changes.removals >= UNFLUSHED_FACTOR * this.#settings.maxInFlight;
  }

  get #delivers(): boolean {
    return this.#state === 'serving' && !this.#unflushedFull && !this.#commits.corrupt;
  }

  /** Offers what is in memory and fetches more. */
  #supply(): void {
    if (this.#commits.corrupt) return;
    if (this.#delivers) {
      if (this.#taker !== undefined && (this.#taker.overheld || this.#inFlight.room === 0)) this.#releaseReady();
      this.#queue.outlet.offer();
      this.#dead?.outlet.offer();
    }
    if (this.#taker === undefined) {
      this.#queue.shelf.load('queue');
      if (!this.#queue.shelf.reading && this.#moments.ask(this.#momentsRoom)) this.#queue.shelf.beginRead();
    } else if (this.#wantsToTake && this.#taker.take(this.#inFlight.room)) this.#queue.shelf.beginRead();
    this.#dead?.shelf.load('dead-letters');
  }

  /** When {@link PzqEngine.#supply} has something to do that no event brings up. */
  get #supplyDeadline(): number {
    if (this.#commits.corrupt) return Infinity;
    const dead = this.#dead?.shelf.deadline ?? Infinity;
    if (this.#taker !== undefined) return Math.min(dead, this.#wantsToTake ? this.#taker.notBefore : Infinity);
    const moments = this.#queue.shelf.reading || this.#momentsRoom <= 0 ? Infinity : this.#moments.deadline;
    return Math.min(dead, this.#queue.shelf.deadline, moments);
  }

  /** Due messages are needed in their order: they may exceed the window by as much again. */
  get #momentsRoom(): number {
    return 2 * this.#settings.windowMax - this.#queue.outlet.ready;
  }

  get #wantsToTake(): boolean {
    return (
      this.#delivers &&
      this.#queue.outlet.ready === 0 &&
      !this.#queue.outlet.offering &&
      !this.#queue.shelf.reading &&
      this.#inFlight.room > 0
    );
  }

  /** Rule 30: for a server whose consumers are idle. Leases that are over are nobody's to give back. */
  #releaseReady(): void {
    const seqs = this.#queue.outlet.takeReady();
    if (seqs.length > 0 && this.#taker?.expired === false) this.#out.push({ kind: 'release', seqs, delayMs: 0 });
  }

  /** Rule 33: its time is over before somebody has dealt with it. */
  #isOverdue({ stored: { expiresMicros } }: Message): boolean {
    return expiresMicros > 0 && expiresMicros <= this.#entropy.wallMicros();
  }

  #expire(expired: Removal): void {
    this.#out.counters.expired++;
    const { seq, storedMicros } = expired;
    if (this.#settings.deadLetterExpired && this.#deadLettersLeft) {
      this.#bury(seq, 'expired');
    } else {
      forget(seq, this.#queue);
      this.#changes.remove(seq, storedMicros, 'memory');
    }
  }

  /** Rule 34: true when it has been delivered often enough. */
  #giveUp({ seq, deliveries }: Message): boolean {
    const { maxDeliveries } = this.#settings;
    if (maxDeliveries === 0) return false;
    const isOver = deliveries >= maxDeliveries && this.#deadLettersLeft;
    if (isOver) this.#bury(seq, 'max-deliveries');
    // Of dead letters as well, for whoever looks at them.
    this.#changes.delivered(seq, deliveries);
    return isOver;
  }

  #bury(seq: number, reason: DeathReason): void {
    forget(seq, this.#queue);
    this.#changes.bury(seq, reason, this.#entropy.wallMicros());
  }

  get #deadLettersLeft(): boolean {
    const dead = this.#commits.counts.dead + this.#changes.burials + (this.#commits.changing?.buries.length ?? 0);
    if (dead < this.#settings.deadLettersMax) return true;
    this.#out.deadLettersFull();
    return false;
  }

  /** Rule 11, and rule 30 where the store has the leases: then the message goes back to it. */
  #return(message: Message, pauseMs: number): void {
    if (this.#taker !== undefined) {
      this.#queue.outlet.take(message);
      this.#out.push({ kind: 'release', seqs: [message.seq], delayMs: pauseMs });
    } else if (pauseMs > 0) this.#queue.outlet.rest(message, pauseMs);
    else this.#queue.outlet.putBack(message);
  }

  /** Rule 36. */
  #pauseAfter({ deliveries }: Message): number {
    const { nackDelayMs, nackDelayMaxMs } = this.#settings;
    return Math.min(nackDelayMs * 2 ** Math.min(deliveries - 1, MOST_DOUBLINGS), nackDelayMaxMs);
  }

  #newWay(name: PzqOutletName, owner: OutletOwner, empty: boolean): Way {
    const { ackTimeoutMs, maxInFlight, maxInFlightBytes } = this.#settings;
    const { epoch, lastSeq } = this.#store;
    const settings = { name, epoch, ackTimeoutMs, maxInFlight, maxInFlightBytes };
    const outlet = new ConsumerSide(settings, this.#entropy, this.#inFlight, this.#out, owner);
    return { outlet, shelf: new Backlog(this.#settings, lastSeq, empty, outlet, this.#out) };
  }

  #find(seq: number): { readonly way: Way; readonly message: Message } | undefined {
    const way = this.#dead?.outlet.find(seq) === undefined ? this.#queue : this.#dead;
    const message = way.outlet.find(seq);
    return message === undefined ? undefined : { way, message };
  }

  #way(name: PzqOutletName): Way {
    return name === 'queue' || this.#dead === undefined ? this.#queue : this.#dead;
  }

  readonly #queueOwner: OutletOwner = {
    overdue: (message) => {
      const overdue = this.#isOverdue(message);
      if (overdue) this.#expire(message.stored);
      return overdue;
    },
    onReturned: (message, how) => {
      this.#out.counters[how === 'nack' ? 'nacked' : 'timedOut']++;
      if (this.#isOverdue(message)) this.#expire(message.stored);
      else if (!this.#giveUp(message)) this.#return(message, how === 'nack' ? this.#pauseAfter(message) : 0);
    },
  };

  readonly #deadOwner: OutletOwner = {
    overdue: () => false,
    onReturned: (message, how) => {
      this.#out.counters[how === 'nack' ? 'nacked' : 'timedOut']++;
      this.#dead?.outlet.putBack(message);
    },
  };

  readonly #commitOwner: CommitOwner = {
    onStored: (message, delayed) => {
      if (this.#taker === undefined) this.#queue.shelf.stored(message, delayed);
    },
    onChanged: ({ removes, buries, requests }, { removed, counts }) => {
      removes.forEach(({ seq, origin }, index) => {
        this.#queue.shelf.flushed(seq);
        this.#dead?.shelf.flushed(seq);
        if (origin === 'key') this.#onKeyRemoved(removed[index] === true);
      });
      for (const { seq, reason } of buries) this.#onBuried(seq, reason);
      for (const request of requests) this.#onDone(request);
      this.#moments.expect(counts.nextDueMicros, this.#changes.moments === 0);
    },
    onUnchanged: ({ requests }, code) => {
      for (const { id, seqs } of requests) {
        for (const seq of seqs) this.#reveal(seq, this.#dead);
        this.#out.push({ kind: 'done', id, code });
      }
    },
  };

  /** The message was not in memory: only the store knew whether it is held. */
  #onKeyRemoved(removed: boolean): void {
    if (removed) {
      this.#out.counters.acked++;
      this.#out.counters.ackedLate++;
    } else this.#out.drop('key-unknown', 'queue');
  }

  /** The store has the message on this side, to be found by the next load; unless somebody has settled it meanwhile. */
  #reveal(seq: number, way: Way | undefined): void {
    if (!this.#changes.removes(seq)) way?.shelf.reveal(seq);
  }

  #onBuried(seq: number, reason: DeathReason): void {
    this.#out.counters.buried++;
    this.#queue.shelf.flushed(seq);
    this.#reveal(seq, this.#dead);
    this.#out.push({ kind: 'dead-letter', seq, reason });
  }

  #onDone({ id, kind, seqs }: Request): void {
    if (kind === 'revive') {
      this.#out.counters.revived += seqs.length;
      for (const seq of seqs) {
        this.#dead?.shelf.flushed(seq);
        this.#reveal(seq, this.#queue);
      }
    }
    this.#out.push({ kind: 'done', id });
  }
}
