/** The calls of this process at a pool's engine, and their timeouts. Knows no protocol. */
import { DeadlineHeap, type HeapDeadline } from '@proj/heartbeat';
import type { Legality } from '@proj/transport/engine';
import { check } from './check.js';

/** What an event does to a call: `settle` ends it, `extend` restarts its timeout, `ignore` is for calls that have ended. */
export type CallLegality<Event extends string> = Legality<'open' | 'over', Event, 'settle' | 'extend' | 'ignore'>;

/** A call that somebody waits for. */
interface TimedCall<Key> {
  readonly key: Key;
  /** How long it may take. */
  readonly timeoutMs: number;
  /** When it has taken too long. Only the table sets it. */
  readonly expiry: HeapDeadline<TimedCall<Key>>;
}

/** All open calls, by key. Opening and settling cost O(log n). */
export class CallTable<Key, Call extends TimedCall<Key>, Event extends string> {
  readonly #legality: CallLegality<Event>;
  readonly #calls = new Map<Key, Call>();
  readonly #expiries = new DeadlineHeap<TimedCall<Key>>();
  #lateUntil = -Infinity;

  constructor(legality: CallLegality<Event>) {
    this.#legality = legality;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** When the next call has taken too long. */
  get deadline(): number {
    return Math.max(this.#expiries.deadline, this.#lateUntil);
  }

  open(call: Call, now: number): void {
    this.#calls.set(call.key, call);
    this.#expiries.set(call.expiry, now + call.timeoutMs);
  }

  has(key: Key): boolean {
    return this.#calls.has(key);
  }

  /** Applies the legality table to the call. Returns the call, or `undefined` if it has ended. */
  tell(key: Key, event: Event, now: number): Call | undefined {
    const call = this.#calls.get(key);
    const [verdict] = this.#legality[call === undefined ? 'over' : 'open'][event];
    if (call === undefined || verdict === 'ignore') return undefined;
    if (verdict === 'extend') this.#expiries.set(call.expiry, now + call.timeoutMs);
    else {
      this.#expiries.remove(call.expiry);
      this.#calls.delete(key);
    }
    return call;
  }

  /** Settles the next call that has taken too long, by `event`. Call until `undefined`. */
  takeExpired(event: Event, now: number): Call | undefined {
    const due = now < this.deadline ? undefined : this.#expiries.first;
    return due === undefined ? undefined : this.tell(due.key, event, now);
  }

  /** Lets no call expire before `now + ms`: we were too busy to read replies for that long (ADR 4). */
  postponeExpiry(ms: number, now: number): void {
    this.#lateUntil = Math.max(this.#lateUntil, now + ms);
  }

  values(): IterableIterator<Call> {
    return this.#calls.values();
  }

  assertInvariants(): void {
    this.#expiries.assertInvariants();
    check(this.#expiries.size === this.#calls.size, 'every open call, and nothing else, can expire');
    for (const { expiry } of this.#calls.values()) check(expiry.at < Infinity, 'every open call can expire');
  }
}
