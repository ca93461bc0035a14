/** PZQ consumer, the engine: what is taken in, handed out and acknowledged. Rule 24 of docs/protocols/pzq.md. */
import { latin1 } from '@proj/frames';
import type {
  PzqConsumerAck,
  PzqDelivery,
  PzqLeaseExtension,
  PzqMalformedReason,
  PzqToConsumer,
} from '@proj/frames/pzq';
import { Deadline, DeadlineHeap, DeadlineList, HeapDeadline, oncePerMinute } from '@proj/heartbeat';
import type { Engine, Peer, RejectReason, TimerEvent } from '@proj/transport';
import { SeenKeys } from './seen-keys.js';

/** Settings of a {@link PzqConsumerSession}. */
export interface PzqConsumerSessionOptions {
  /** Most messages in hand, at least 1: those that wait for a reader and those that were handed out and are not settled. */
  readonly prefetch: number;
  readonly dropExpired: boolean;
  /** Keys of acknowledged messages that are remembered. */
  readonly dedupeMax: number;
}

/** What becomes of a message that was handed out. `leave` says nothing to the queue: it comes again when its lease ends. */
export type PzqVerdict = 'ack' | 'nack' | 'leave';

/** A fact reported to a consumer's session. */
export type PzqConsumerEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly message: PzqToConsumer }
  /** A message over the limits of the socket was dropped. */
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  /** What was sent to a queue did not go out. */
  | { readonly kind: 'undeliverable' }
  /** One reader more waits for a message. */
  | { readonly kind: 'demand' }
  /** One reader less does. */
  | { readonly kind: 'waive' }
  /** The verdict on a message that was handed out. Once per message. */
  | { readonly kind: 'settle'; readonly handed: PzqHanded; readonly verdict: PzqVerdict }
  /** A message that was handed out takes longer. */
  | { readonly kind: 'extend'; readonly handed: PzqHanded }
  /** Hands nothing out any more; `drained` follows when all that was handed out is settled. */
  | { readonly kind: 'drain' }
  /** The end: what waits is given back. */
  | { readonly kind: 'close' };

/** A message as it was handed out. */
export interface PzqHanded {
  /** Different for each message that is handed out, also for the same one later. */
  readonly number: number;
  readonly peer: Peer;
  readonly delivery: PzqDelivery;
}

/** Why something a queue sent was dropped. */
export type PzqConsumerDropReason =
  | PzqMalformedReason
  | RejectReason
  /** Its acknowledgement timeout was over when its turn came. */
  | 'expired'
  /** It was in hand already. */
  | 'in-hand';

/** Something worth a log line. */
export type PzqConsumerNote =
  /** Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: PzqConsumerDropReason }
  /** An acknowledgement did not go out: the message comes again. Once a minute. */
  | { readonly code: 'ack-undeliverable' };

/** What a session wants done. */
export type PzqConsumerEffect =
  /** To the reader that has waited longest. */
  | { readonly kind: 'hand'; readonly handed: PzqHanded }
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: PzqConsumerAck | PzqLeaseExtension }
  /** Read no more, or again. One more message may come after `pause`. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Delivery after delivery looks expired: one of the clocks is wrong, by about so much. Once, until one looks right again. */
  | { readonly kind: 'clock-skew'; readonly byMs: number }
  | { readonly kind: 'drained' }
  | { readonly kind: 'note'; readonly note: PzqConsumerNote };

/** Counters since construction and gauges of now. */
export interface PzqConsumerStats {
  /** Gauge: taken in and waiting for a reader. */
  readonly waiting: number;
  /** Gauge: handed out and not settled. */
  readonly unsettled: number;
  /** Deliveries. */
  readonly received: number;
  readonly handedOut: number;
  readonly acked: number;
  readonly nacked: number;
  readonly left: number;
  readonly extended: number;
  /** Deliveries of messages that were acknowledged before: acknowledged again, not handed out. */
  readonly repeated: number;
  /** Messages handed out whose lease ended before there was a verdict. */
  readonly leasesLost: number;
  readonly acksUndeliverable: number;
  readonly dropped: Readonly<Partial<Record<PzqConsumerDropReason, number>>>;
}

/** A message in hand. */
class Held {
  readonly key: string;
  readonly peer: Peer;
  delivery: PzqDelivery;
  /** When that came. */
  receivedAt: number;
  /** Its turn, while it waits for a reader. */
  readonly turn = new Deadline<Held>(this);
  /** The end of its lease, once it was handed out. */
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

/** How many deliveries must look expired, one after another, before the clocks are suspected. */
const SKEW_SAMPLE = 20;

/**
 * The engine of a consumer. At most `prefetch` messages are in hand; then the socket is not read, so the rest stays with the
 * queue, but for what the connection and its socket hold. A message that was handed out gives its place free when it is
 * settled, or when its lease has ended without a verdict: the queue will give it to somebody else.
 *
 * A message acknowledged before is acknowledged again and not handed out; one that is in hand already is not taken a second time.
 * A step costs O(log prefetch).
 */
export class PzqConsumerSession implements Engine<PzqConsumerEvent, PzqConsumerEffect> {
  readonly #options: PzqConsumerSessionOptions;
  readonly #wallMicros: () => number;
  /** By key. */
  readonly #held = new Map<string, Held>();
  /** The delay of 0 makes the list a queue. */
  readonly #waiting = new DeadlineList<Held>(0);
  readonly #leases = new DeadlineHeap<Held>();
  readonly #seen: SeenKeys;
  readonly #noted = oncePerMinute();
  readonly #counts = {
    received: 0,
    handedOut: 0,
    acked: 0,
    nacked: 0,
    left: 0,
    extended: 0,
    repeated: 0,
    leasesLost: 0,
    acksUndeliverable: 0,
  };
  readonly #dropped = new Map<PzqConsumerDropReason, number>();
  #effects: PzqConsumerEffect[] = [];
  /** Readers that wait. */
  #demand = 0;
  #paused = false;
  /** Since when the socket is read. */
  #readingSince = -Infinity;
  /** Deliveries since the last one that was not expired, of those that cannot have lain in the connection for so long. */
  #suspicious = 0;
  #draining = false;
  #drained = false;

  /** `wallMicros` reads the wall clock, in microseconds since 1970. */
  constructor(options: PzqConsumerSessionOptions, wallMicros: () => number) {
    this.#options = options;
    this.#wallMicros = wallMicros;
    this.#seen = new SeenKeys(options.dedupeMax);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return this.#leases.deadline;
  }

  /** Counters and gauges, as a copy. */
  get stats(): PzqConsumerStats {
    return {
      waiting: this.#waiting.size,
      unsettled: this.#leases.size,
      ...this.#counts,
      dropped: Object.fromEntries(this.#dropped),
    };
  }

  /** See {@link Engine.step}. */
  step(event: PzqConsumerEvent | TimerEvent, now: number): readonly PzqConsumerEffect[] {
    this.#effects = [];
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.peer, event.message, now);
        break;
      case 'rejected':
        this.#drop(event.reason, now);
        break;
      case 'undeliverable':
        this.#counts.acksUndeliverable++;
        if (this.#noted.allow('ack-undeliverable', now)) this.#note({ code: 'ack-undeliverable' });
        break;
      case 'demand':
        this.#demand++;
        break;
      case 'waive':
        this.#demand--;
        break;
      case 'settle':
        this.#onSettle(event.handed, event.verdict);
        break;
      case 'extend':
        this.#onExtend(event.handed, now);
        break;
      case 'drain':
        this.#draining = true;
        this.#demand = 0;
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(now);
        break;
    }
    this.#handOut(now);
    this.#regulate(now);
    return this.#effects;
  }

  #onMessage(peer: Peer, delivery: PzqToConsumer, now: number): void {
    if (delivery.kind === 'malformed') {
      this.#drop(delivery.reason, now);
      return;
    }
    this.#counts.received++;
    const key = latin1(delivery.key);
    const held = this.#held.get(key);
    if (held !== undefined) this.#onAgain(held, delivery, now);
    else if (this.#seen.has(key)) {
      this.#counts.repeated++;
      this.#answer(peer, delivery, true);
    } else {
      const fresh = new Held(key, peer, delivery, now);
      this.#held.set(key, fresh);
      this.#waiting.renew(fresh.turn, now);
    }
  }

  /** The queue's lease ended before there was a verdict, and a new one began with this delivery. */
  #onAgain(held: Held, delivery: PzqDelivery, now: number): void {
    held.delivery = delivery;
    held.receivedAt = now;
    if (held.number > 0) this.#leases.set(held.lease, leaseEnd(delivery, now));
    this.#drop('in-hand', now);
  }

  #onSettle({ number, peer, delivery }: PzqHanded, verdict: PzqVerdict): void {
    const key = latin1(delivery.key);
    const held = this.#held.get(key);
    const isIt = held?.number === number;
    if (isIt) this.#forget(held);
    switch (verdict) {
      case 'ack':
        // It came again, since its lease had ended, and nobody has begun with it.
        if (held?.number === 0) this.#forget(held);
        this.#counts.acked++;
        this.#seen.add(key);
        this.#answer(peer, delivery, true);
        break;
      case 'nack':
        this.#counts.nacked++;
        // A late one, of a message that is in hand anew, would take it from that reader.
        if (held === undefined || isIt) this.#answer(peer, delivery, false);
        break;
      case 'leave':
        this.#counts.left++;
        break;
    }
  }

  #onExtend({ number, peer, delivery }: PzqHanded, now: number): void {
    const held = this.#held.get(latin1(delivery.key));
    if (held?.number !== number) return;
    this.#counts.extended++;
    this.#leases.set(held.lease, leaseEnd(delivery, now));
    this.#effects.push({ kind: 'send', peer, command: { kind: 'lease-extension', key: delivery.key } });
  }

  /** Not before the end: a queue would deliver it again at once, and to us too, as long as we are connected. */
  #onClose(): void {
    this.#draining = true;
    this.#demand = 0;
    for (const held of [...this.#waiting.values()]) {
      this.#forget(held);
      this.#answer(held.peer, held.delivery, false);
    }
  }

  #onTimer(now: number): void {
    for (let held = this.#leases.takeDue(now); held !== undefined; held = this.#leases.takeDue(now)) {
      this.#counts.leasesLost++;
      this.#forget(held);
    }
  }

  #handOut(now: number): void {
    while (this.#demand > 0) {
      const held = this.#waiting.takeDue(now);
      if (held === undefined) return;
      if (this.#isExpired(held, now)) {
        this.#forget(held);
        this.#drop('expired', now);
      } else this.#hand(held, now);
    }
  }

  #hand(held: Held, now: number): void {
    const { peer, delivery } = held;
    this.#demand--;
    held.number = ++this.#counts.handedOut;
    this.#leases.set(held.lease, leaseEnd(delivery, now));
    this.#effects.push({ kind: 'hand', handed: { number: held.number, peer, delivery } });
  }

  /** While the clocks are suspected, what is known of a delivery's age is the time that it has been here. */
  #isExpired({ delivery: { sentMicros, ackTimeoutMicros }, receivedAt }: Held, now: number): boolean {
    if (!this.#options.dropExpired) return false;
    const ageMicros = this.#wallMicros() - sentMicros;
    if (ageMicros <= ackTimeoutMicros) {
      this.#suspicious = 0;
      return false;
    }
    const timeoutMs = ackTimeoutMicros / 1000;
    if (this.#suspicious < SKEW_SAMPLE && receivedAt - this.#readingSince >= timeoutMs) {
      this.#suspicious++;
      if (this.#suspicious === SKEW_SAMPLE)
        this.#effects.push({ kind: 'clock-skew', byMs: Math.round(ageMicros / 1000) });
    }
    return this.#suspicious < SKEW_SAMPLE || now - receivedAt > timeoutMs;
  }

  /** Stops reading at the bound, and starts again below it. */
  #regulate(now: number): void {
    const full = this.#draining || this.#held.size >= this.#options.prefetch;
    if (full !== this.#paused) this.#effects.push({ kind: full ? 'pause' : 'resume' });
    if (!full && this.#paused) this.#readingSince = now;
    this.#paused = full;
    if (!this.#draining || this.#drained || this.#leases.size > 0) return;
    this.#drained = true;
    this.#effects.push({ kind: 'drained' });
  }

  /** Strikes the message off the books. */
  #forget(held: Held): void {
    this.#held.delete(held.key);
    this.#waiting.remove(held.turn);
    this.#leases.remove(held.lease);
  }

  #answer(peer: Peer, { key }: PzqDelivery, positive: boolean): void {
    this.#effects.push({ kind: 'send', peer, command: { kind: 'consumer-ack', key, positive } });
  }

  #drop(reason: PzqConsumerDropReason, now: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (this.#noted.allow(reason, now)) this.#note({ code: 'message-dropped', reason });
  }

  #note(note: PzqConsumerNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    this.#leases.assertInvariants();
    this.#seen.assertInvariants();
    const { prefetch } = this.#options;
    // What was read before the pause took effect.
    if (this.#held.size > prefetch + 1) throw new Error(`${this.#held.size} messages are in hand`);
    if (this.#held.size !== this.#waiting.size + this.#leases.size)
      throw new Error('a message neither waits nor is out');
    for (const held of this.#held.values())
      if (held.number === 0 && this.#demand > 0) throw new Error('a message waits although a reader does');
    if (this.#demand < 0) throw new Error(`${this.#demand} readers wait`);
    if (!this.#paused && this.#held.size >= prefetch)
      throw new Error('the socket is read although all places are taken');
    if (this.#paused && !this.#draining && this.#held.size < prefetch)
      throw new Error('nothing is read although there is room');
  }
}

function leaseEnd({ ackTimeoutMicros }: PzqDelivery, now: number): number {
  return now + ackTimeoutMicros / 1000;
}
