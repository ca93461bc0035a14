/**
 * PZQ consumer, the engine: receives, delivers and acknowledges messages. `consumer-legality.ts` decides what an event means for a message. The
 * rules are those of docs/protocols/pzq.md.
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 24 | a consumer | consumer-session.ts, consumer-state.ts, delivery-expiry.ts, consumer.ts |
 */
import type { PzqToConsumer } from '@proj/frames/pzq';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import type {
  PzqConsumerEffect,
  PzqConsumerEvent,
  PzqConsumerSessionOptions,
  PzqConsumerStats,
  PzqHanded,
  PzqVerdict,
} from './consumer-events.js';
import { LEGALITY } from './consumer-legality.js';
import { HeldMessages, keyOf } from './consumer-state.js';
import type { Held } from './consumer-state.js';
import { DeliveryExpiry } from './delivery-expiry.js';
import { ConsumerOutput } from './output.js';

/**
 * The engine of a consumer. At most `prefetch` messages are in hand; beyond that the socket is not read, so the rest stays with the queue,
 * except for what the connection and its socket hold. A delivered message frees its place when it is settled, or when its lease ends without a
 * verdict: the queue will give it to another reader.
 *
 * A message acknowledged before is acknowledged again and not delivered; one that is in hand is not accepted a second time. A step costs O(log
 * prefetch).
 */
export class PzqConsumerSession implements Engine<PzqConsumerEvent, PzqConsumerEffect> {
  readonly #prefetch: number;
  readonly #out = new ConsumerOutput();
  readonly #held: HeldMessages;
  readonly #expiry: DeliveryExpiry;
  /** Number of waiting readers. */
  #demand = 0;
  #isPaused = false;
  #isDraining = false;
  #isDrained = false;

  /** `wallMicros` reads the wall clock, in microseconds since 1970. */
  constructor(options: PzqConsumerSessionOptions, wallMicros: () => number) {
    this.#prefetch = options.prefetch;
    this.#held = new HeldMessages(options);
    this.#expiry = new DeliveryExpiry(options.dropExpired, wallMicros, this.#out);
  }

  get deadline(): number {
    return this.#held.deadline;
  }

  /** A copy of the counters and gauges. */
  get stats(): PzqConsumerStats {
    return { waiting: this.#held.waiting, unsettled: this.#held.handedOut, ...this.#out.totals };
  }

  step(event: PzqConsumerEvent | TimerEvent, now: number): readonly PzqConsumerEffect[] {
    this.#out.begin(now);
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.peer, event.message);
        break;
      case 'rejected':
        this.#out.drop(event.reason);
        break;
      case 'undeliverable':
        this.#out.counters.acksUndeliverable++;
        this.#out.note('ack-undeliverable', { kind: 'note', note: { code: 'ack-undeliverable' } });
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
        this.#onExtend(event.handed);
        break;
      case 'drain':
        this.#drain();
        break;
      case 'close':
        this.#drain();
        this.#giveBack();
        break;
      case 'timer':
        for (let held = this.#held.takeUnleased(now); held !== undefined; held = this.#held.takeUnleased(now)) {
          this.#out.counters.leasesLost++;
          this.#held.remove(held);
        }
        break;
    }
    this.#handOut();
    this.#regulate();
    return this.#out.effects;
  }

  assertInvariants(): void {
    this.#held.assertInvariants(this.#prefetch, this.#demand);
    if (this.#demand < 0) throw new Error(`${this.#demand} readers wait`);
    const isFull = this.#held.size >= this.#prefetch;
    if (!this.#isPaused && isFull) throw new Error('the socket is read although all places are taken');
    if (this.#isPaused && !this.#isDraining && !isFull) throw new Error('nothing is read although there is room');
  }

  #onMessage(peer: Peer, delivery: PzqToConsumer): void {
    if (delivery.kind === 'malformed') {
      this.#out.drop(delivery.reason);
      return;
    }
    const { now, counters } = this.#out;
    counters.received++;
    const key = keyOf(delivery);
    switch (LEGALITY[this.#held.stateOf(key)].delivery[0]) {
      case 'keep':
        this.#held.add(key, peer, delivery, now);
        break;
      case 'renew':
        this.#held.renew(this.#held.get(key) as Held, delivery, now);
        this.#out.drop('in-hand');
        break;
      default:
        counters.repeated++;
        this.#out.answer(peer, delivery, true);
    }
  }

  #onSettle({ number, peer, delivery }: PzqHanded, verdict: PzqVerdict): void {
    const { counters } = this.#out;
    if (verdict === 'ack') counters.acked++;
    else if (verdict === 'nack') counters.nacked++;
    else counters.left++;
    const key = keyOf(delivery);
    const state = this.#held.stateOf(key, number);
    const [ruling] = LEGALITY[state][verdict];
    if (ruling === 'ignore') return;
    const held = state === 'handed out again' ? undefined : this.#held.get(key);
    if (held !== undefined) this.#held.remove(held);
    if (verdict === 'ack') this.#held.acknowledge(key);
    if (ruling === 'answer') this.#out.answer(peer, delivery, verdict === 'ack');
  }

  #onExtend({ number, peer, delivery }: PzqHanded): void {
    const key = keyOf(delivery);
    if (LEGALITY[this.#held.stateOf(key, number)].extend[0] === 'ignore') return;
    this.#out.counters.extended++;
    this.#held.extend(this.#held.get(key) as Held, delivery, this.#out.now);
    this.#out.effects.push({ kind: 'send', peer, command: { kind: 'lease-extension', key: delivery.key } });
  }

  #drain(): void {
    this.#isDraining = true;
    this.#demand = 0;
  }

  /** Only at the end: a queue would deliver it again at once, and perhaps to us, as long as we are connected. */
  #giveBack(): void {
    for (const held of this.#held.allWaiting()) {
      this.#held.remove(held);
      this.#out.answer(held.peer, held.delivery, false);
    }
  }

  #handOut(): void {
    const { now, counters, effects } = this.#out;
    while (this.#demand > 0) {
      const held = this.#held.takeWaiting(now);
      if (held === undefined) return;
      if (this.#expiry.isExpired(held)) {
        this.#held.remove(held);
        this.#out.drop('expired');
      } else {
        this.#demand--;
        effects.push({ kind: 'hand', handed: this.#held.handOut(held, ++counters.handedOut, now) });
      }
    }
  }

  /** Stops reading at the limit, and resumes below it. */
  #regulate(): void {
    const isFull = this.#isDraining || this.#held.size >= this.#prefetch;
    if (isFull !== this.#isPaused) this.#out.effects.push({ kind: isFull ? 'pause' : 'resume' });
    if (!isFull && this.#isPaused) this.#expiry.reading();
    this.#isPaused = isFull;
    if (!this.#isDraining || this.#isDrained || this.#held.handedOut > 0) return;
    this.#isDrained = true;
    this.#out.effects.push({ kind: 'drained' });
  }
}
