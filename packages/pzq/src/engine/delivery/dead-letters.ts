/** PZQ: what happens to messages that came back, expired or were given up. Rules 11 and 33 to 36 of docs/protocols/pzq.md. */
import type { Batch, DeathReason, Removal } from '../../store/store.js';
import type { ConsumerSideOwner } from './consumer-side.js';
import type { Message } from './in-flight.js';
import type { Request } from '../producers/pending-batch.js';
import type { QueueState } from '../state.js';

/** More would exceed the safe integers. */
const MOST_DOUBLINGS = 32;

/** Decides what happens to unacknowledged messages. */
export class DeadLetters implements ConsumerSideOwner {
  readonly #state: QueueState;

  constructor(state: QueueState) {
    this.#state = state;
  }

  overdue(message: Message): boolean {
    const isOverdue = this.#isOverdue(message);
    if (isOverdue) this.expire(message.stored);
    return isOverdue;
  }

  onReturned(message: Message, how: 'nack' | 'timeout'): boolean {
    if (this.#isOverdue(message)) this.expire(message.stored);
    else if (!this.#giveUp(message)) {
      this.#return(message, how === 'nack' ? this.#pauseAfter(message) : 0);
      return true;
    }
    return false;
  }

  /** Rule 33: its lifetime ended before a consumer finished it. */
  expire({ seq, storedMicros }: Removal): void {
    const { out, pending, queue, settings } = this.#state;
    out.counters.expired++;
    out.figures.queue.ended('expired');
    if (settings.deadLetterExpired && this.#hasRoom()) this.#bury(seq, 'expired');
    else {
      this.#state.forget(seq, queue);
      pending.remove(seq, storedMicros, 'memory');
    }
  }

  /** Dead letters that are about to leave must not be delivered meanwhile. */
  withdraw(seqs: readonly number[]): void {
    const { dead } = this.#state;
    if (dead !== undefined) for (const seq of seqs) this.#state.forget(seq, dead);
  }

  /** These moves to the dead letters, and these requests of the facade, are on disk. */
  committed(buries: Batch['buries'], requests: readonly Request[]): void {
    const { out, queue, dead } = this.#state;
    for (const { seq, reason } of buries) {
      out.counters.buried++;
      out.figures['dead-letters'].requests++;
      queue.window.flushed(seq);
      this.#state.reveal(seq, dead);
      out.effects.push({ kind: 'dead-letter', seq, reason });
    }
    for (const { id, kind, seqs, count } of requests) {
      if (kind === 'revive') this.#revived(seqs);
      out.effects.push(count === undefined ? { kind: 'done', id } : { kind: 'done', id, count });
    }
  }

  /** These requests have failed with the store's code. */
  failed(requests: readonly Request[], code: string): void {
    for (const { id, seqs } of requests) {
      for (const seq of seqs) this.#state.reveal(seq, this.#state.dead);
      this.#state.out.effects.push({ kind: 'done', id, code });
    }
  }

  #revived(seqs: readonly number[]): void {
    const { out, queue, dead } = this.#state;
    out.counters.revived += seqs.length;
    for (const seq of seqs) {
      dead?.window.flushed(seq);
      this.#state.reveal(seq, queue);
    }
  }

  #isOverdue({ stored: { expiresMicros } }: Message): boolean {
    return expiresMicros > 0 && expiresMicros <= this.#state.entropy.wallMicros();
  }

  /** Rule 34: true if it was delivered often enough. */
  #giveUp({ seq, deliveries }: Message): boolean {
    const { maxDeliveries } = this.#state.settings;
    if (maxDeliveries === 0) return false;
    const isOver = deliveries >= maxDeliveries && this.#hasRoom();
    if (isOver) {
      this.#state.out.figures.queue.ended('max-deliveries');
      this.#bury(seq, 'max-deliveries');
    }
    // Also for dead letters, to show the count.
    this.#state.pending.delivered(seq, deliveries);
    return isOver;
  }

  #bury(seq: number, reason: DeathReason): void {
    const { entropy, pending, queue } = this.#state;
    this.#state.forget(seq, queue);
    pending.bury(seq, reason, entropy.wallMicros());
  }

  /** True if there is room for one more dead letter. */
  #hasRoom(): boolean {
    const { commits, out, pending, settings } = this.#state;
    const dead = commits.counts.dead + pending.burials + (commits.changing?.buries.length ?? 0);
    if (dead < settings.deadLettersMax) return true;
    out.deadLettersFull();
    return false;
  }

  /** Rule 11; and rule 30 if the store has the leases: then the message goes back to it. */
  #return(message: Message, pauseMs: number): void {
    const { leases, queue } = this.#state;
    if (leases !== undefined) {
      queue.side.take(message);
      leases.release([message.seq], pauseMs);
    } else if (pauseMs > 0) queue.side.rest(message, pauseMs);
    else queue.side.putBack(message);
  }

  /** Rule 36. */
  #pauseAfter({ deliveries }: Message): number {
    const { nackDelayMs, nackDelayMaxMs } = this.#state.settings;
    return Math.min(nackDelayMs * 2 ** Math.min(deliveries - 1, MOST_DOUBLINGS), nackDelayMaxMs);
  }
}
