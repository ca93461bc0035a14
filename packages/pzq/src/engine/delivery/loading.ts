/** PZQ: how messages get from the store to consumers: loads, moments, leases. Rules 10, 20, 30, 32 and 33 of docs/protocols/pzq.md. */
import type { DueMessages, StoredMessage } from '../../store/store.js';
import { CORRUPT } from '../producers/commits.js';
import type { PzqOutletName, PzqStoreFailure } from '../events.js';
import type { HeldMessage, Message } from './in-flight.js';
import { LEGALITY, type Whereabouts } from '../legality.js';
import type { Purge } from './purge.js';
import { Delays } from './delays.js';
import type { QueueState } from '../state.js';
import type { DeadLetters } from './dead-letters.js';

/** Keeps messages in memory, neither too few nor too many, and offers them. */
export class Loading {
  readonly #state: QueueState;
  readonly #deadLetters: DeadLetters;
  readonly #purge: Purge;
  readonly #delays: Delays;

  constructor(state: QueueState, deadLetters: DeadLetters, purge: Purge) {
    this.#purge = purge;
    this.#state = state;
    this.#deadLetters = deadLetters;
    this.#delays = new Delays(state.settings.probeIntervalMs, state.entropy, state.out);
  }

  /** When {@link run} has something to do without an event. */
  get deadline(): number {
    const { commits, dead, leases, phase, queue } = this.#state;
    if (commits.corrupt || phase !== 'serving') return Infinity;
    const deadAt = dead?.window.deadline ?? Infinity;
    if (leases !== undefined) return Math.min(deadAt, this.#wantsLeases ? leases.notBefore : Infinity);
    const momentsAt = queue.window.reading || this.#momentsRoom <= 0 ? Infinity : this.#delays.deadline;
    return Math.min(deadAt, queue.window.deadline, momentsAt);
  }

  /** Offers what is in memory and fetches more. */
  run(): void {
    const { commits, dead, delivers, inFlight, isPaused, leases, queue } = this.#state;
    this.#purge.run();
    // Rule 40: if servers share the store, others continue with what is ready.
    if (isPaused && !this.#purge.isRunning) this.releaseReady();
    if (commits.corrupt) return;
    if (delivers) {
      if (leases !== undefined && (leases.overheld || inFlight.room === 0)) this.releaseReady();
      if (!isPaused) queue.side.offer();
      dead?.side.offer();
    }
    if (leases === undefined) {
      queue.window.load();
      if (!queue.window.reading && this.#delays.ask(this.#momentsRoom)) queue.window.beginRead();
    } else if (this.#wantsLeases && leases.take(inFlight.room)) queue.window.beginRead();
    dead?.window.load();
  }

  /** A consumer has taken the offer. */
  delivered(outlet: PzqOutletName): void {
    if (outlet === 'queue') this.#state.leases?.delivered();
  }

  /** No consumer has room for the offer. */
  blocked(outlet: PzqOutletName): void {
    if (outlet !== 'queue') return;
    this.#state.leases?.stalled();
    this.releaseReady();
  }

  /** A new message is on disk. */
  stored(message: HeldMessage, isDelayed: boolean): void {
    if (this.#state.leases === undefined) this.#state.queue.window.stored(message, isDelayed);
  }

  /** A commit reports the next moment. */
  committed(nextDueMicros: number): void {
    this.#delays.expect(nextDueMicros, this.#state.pending.moments === 0);
  }

  /** Rules 32 and 33. */
  due({ ready, expired }: DueMessages): void {
    const { out, pending, queue } = this.#state;
    for (const message of ready) {
      const [verdict] = LEGALITY[this.#whereaboutsOf(message.seq)]['delay over'];
      if (verdict === 'load') queue.window.put(message, out.now);
      if (verdict !== 'ignore') pending.passed(message.seq);
    }
    for (const removal of expired) {
      const { seq } = removal;
      const [verdict] = LEGALITY[this.#whereaboutsOf(seq)].expiry;
      if (verdict === 'expire') this.#deadLetters.expire(removal);
      else if (verdict === 'pass') pending.passed(seq);
    }
    queue.window.endRead();
    this.#delays.answered(ready.length + expired.length > 0);
  }

  dueFailed(failure: PzqStoreFailure): void {
    this.#readFailed(failure);
    this.#state.queue.window.endRead();
    this.#delays.answered(false);
  }

  /** Rule 30. */
  taken(messages: readonly StoredMessage[]): void {
    const { leases, out, queue } = this.#state;
    for (const message of messages) {
      const [verdict] = LEGALITY[this.#whereaboutsOf(message.seq)].lease;
      if (verdict === 'reload') queue.side.take(queue.side.find(message.seq) as Message);
      // One that was delivered before has waited since it came back, and only another server knows when that was.
      if (verdict !== 'ignore') queue.window.put(message, message.deliveries > 0 ? out.now : undefined);
    }
    queue.window.endRead();
    leases?.taken(messages.length);
    this.#purge.taken(messages);
  }

  takeFailed(failure: PzqStoreFailure): void {
    this.#readFailed(failure);
    this.#state.queue.window.endRead();
    this.#state.leases?.stalled();
  }

  loadFailed(outlet: PzqOutletName, failure: PzqStoreFailure): void {
    this.#readFailed(failure);
    this.#state.way(outlet).window.loadFailed();
  }

  /** Rule 30: returns ready messages, for a server whose consumers are idle. Those whose leases are over may be with another server. */
  releaseReady(): void {
    const { leases, queue } = this.#state;
    if (leases === undefined) return;
    const seqs = queue.side.takeReady();
    if (seqs.length > 0 && !leases.expired) leases.release(seqs, 0);
  }

  /**
   * A store that shows fewer messages than it claims has lost some: damage that no read detects. Known once everything is in memory and nothing
   * is pending.
   */
  checkCounts(): void {
    const { commits, leases, queue } = this.#state;
    const { window, side } = queue;
    if (leases !== undefined || window.reading || window.cursor < window.top || !commits.idle) return;
    const { messages, delayed } = commits.counts;
    if (side.size >= messages - delayed) return;
    commits.damaged(
      `the store says that ${messages - delayed} messages are ready and shows ${side.size}: see 'proj queue check'`,
    );
  }

  /** The state of a message of the queue itself. */
  #whereaboutsOf(seq: number): Whereabouts {
    return this.#state.whereaboutsOf(seq, this.#state.queue.side.find(seq));
  }

  #readFailed({ code, what = code }: PzqStoreFailure): void {
    if (code === CORRUPT) this.#state.commits.damaged(what);
    else this.#state.out.readFailed(code);
  }

  /** Due messages are needed in order: they may exceed the window by as much again. */
  get #momentsRoom(): number {
    return 2 * this.#state.settings.windowMax - this.#state.queue.side.ready;
  }

  get #wantsLeases(): boolean {
    const { delivers, inFlight, isPaused, queue } = this.#state;
    const wantsAny = delivers && (!isPaused || this.#purge.isRunning);
    return wantsAny && queue.side.ready === 0 && !queue.side.offering && !queue.window.reading && inFlight.room > 0;
  }
}
