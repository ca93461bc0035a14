/** PZQ consumer: the messages in hand, and the keys of those acknowledged last. */
import { latin1 } from '@proj/frames';
import type { PzqDelivery } from '@proj/frames/pzq';
import { Deadline, DeadlineHeap, DeadlineList, HeapDeadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import type { PzqConsumerSessionOptions, PzqHanded } from './consumer-events.js';
import type { DeliveryState } from './consumer-legality.js';

/** A message in hand. */
export class Held {
  readonly key: string;
  readonly peer: Peer;
  delivery: PzqDelivery;
  /** When that delivery arrived. */
  receivedAt: number;
  /** Its turn, while it waits for a reader. */
  readonly turn = new Deadline<Held>(this);
  /** The end of its lease, once delivered. */
  readonly lease = new HeapDeadline<Held>(this);
  /** 0 while it waits. */
  number = 0;

  constructor(key: string, peer: Peer, delivery: PzqDelivery, now: number) {
    this.key = key;
    this.peer = peer;
    this.delivery = delivery;
    this.receivedAt = now;
  }
}

/** All messages in hand. Each call costs O(log prefetch), except for listings. */
export class HeldMessages {
  readonly #byKey = new Map<string, Held>();
  /** The delay of 0 makes the list a queue. */
  readonly #waiting = new DeadlineList<Held>(0);
  readonly #leases = new DeadlineHeap<Held>();
  readonly #acknowledged: SeenKeys;

  constructor({ dedupeMax }: PzqConsumerSessionOptions) {
    this.#acknowledged = new SeenKeys(dedupeMax);
  }

  get size(): number {
    return this.#byKey.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get handedOut(): number {
    return this.#leases.size;
  }

  /** When the next lease ends. */
  get deadline(): number {
    return this.#leases.deadline;
  }

  get(key: string): Held | undefined {
    return this.#byKey.get(key);
  }

  /** The state of a message; with `number`, from the view of the reader who got it under that number. */
  stateOf(key: string, number?: number): DeliveryState {
    const held = this.#byKey.get(key);
    if (held === undefined) return this.#acknowledged.has(key) ? 'acknowledged' : 'unknown';
    if (held.number === 0) return 'waiting';
    return number === undefined || held.number === number ? 'handed out' : 'handed out again';
  }

  /** Adds a delivery; it waits for a reader. */
  add(key: string, peer: Peer, delivery: PzqDelivery, now: number): void {
    const held = new Held(key, peer, delivery, now);
    this.#byKey.set(key, held);
    this.#waiting.renew(held.turn, now);
  }

  /** It was delivered again, so the queue has restarted its lease. */
  renew(held: Held, delivery: PzqDelivery, now: number): void {
    held.delivery = delivery;
    held.receivedAt = now;
    if (held.number > 0) this.#leases.set(held.lease, leaseEnd(delivery, now));
  }

  extend(held: Held, delivery: PzqDelivery, now: number): void {
    this.#leases.set(held.lease, leaseEnd(delivery, now));
  }

  /** The one that has waited longest. The caller delivers or removes it. */
  takeWaiting(now: number): Held | undefined {
    return this.#waiting.takeDue(now);
  }

  handOut(held: Held, number: number, now: number): PzqHanded {
    held.number = number;
    this.#leases.set(held.lease, leaseEnd(held.delivery, now));
    return { number, peer: held.peer, delivery: held.delivery };
  }

  /** One whose lease has ended. The caller removes it. */
  takeUnleased(now: number): Held | undefined {
    return this.#leases.takeDue(now);
  }

  allWaiting(): Held[] {
    return [...this.#waiting.values()];
  }

  remove(held: Held): void {
    this.#byKey.delete(held.key);
    this.#waiting.remove(held.turn);
    this.#leases.remove(held.lease);
  }

  /** Remembers the key as acknowledged. */
  acknowledge(key: string): void {
    this.#acknowledged.add(key);
  }

  assertInvariants(prefetch: number, demand: number): void {
    this.#leases.assertInvariants();
    this.#acknowledged.assertInvariants();
    // One more may have been read before the pause took effect.
    if (this.size > prefetch + 1) throw new Error(`${this.size} messages are in hand`);
    if (this.size !== this.waiting + this.handedOut) throw new Error('a message neither waits nor is out');
    for (const held of this.#byKey.values())
      if (held.number === 0 && demand > 0) throw new Error('a message waits although a reader does');
  }
}

/** Identifies this delivery's message. */
export function keyOf({ key }: PzqDelivery): string {
  return latin1(key);
}

function leaseEnd({ ackTimeoutMicros }: PzqDelivery, now: number): number {
  return now + ackTimeoutMicros / 1000;
}

/** The last `max` keys added: a set and a ring of its members, so that each step is O(1). With 0 it remembers nothing. */
class SeenKeys {
  readonly #max: number;
  readonly #keys = new Set<string>();
  readonly #ring: string[] = [];
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    if (this.#max === 0 || this.#keys.has(key)) return;
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
    this.#ring[this.#next] = key;
    this.#next = (this.#next + 1) % this.#max;
  }

  assertInvariants(): void {
    if (this.#keys.size !== this.#ring.length || this.#keys.size > this.#max)
      throw new Error(`${this.#keys.size} keys are known, ${this.#ring.length} remembered, ${this.#max} allowed`);
  }
}
