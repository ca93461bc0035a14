/**
 * PZQ: one way out of the queue. Messages in memory wait in order, are offered one at a time, and are in flight until they are
 * settled or come back. Rules 10 to 14, 16 and 17 of docs/protocols/pzq.md; what becomes of a message that came back is its
 * owner's decision.
 */
import { encodePzqKey } from '@proj/frames/pzq';
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { Entropy, Peer } from '@proj/transport';
import { Consumers } from './consumers.js';
import type { PzqOutletName } from './events.js';
import { type InFlight, Message } from './message.js';
import type { Output } from './output.js';
import type { StoredMessage } from '../store/store.js';

/** Offers nobody took are this far apart, should the socket not have waited itself. */
const OFFER_SPACING_MS = 50;
/** Ranks of messages that were delivered before are negative: before all others, by sequence among themselves. Exact for all sequences. */
const RETURNED_RANK = -(2 ** 53);

/** What the owner of an outlet decides. */
export interface OutletOwner {
  /** True when the message must not be delivered any more; it has then been taken out of the outlet. */
  overdue(message: Message): boolean;
  /** Given back or timed out; it still counts as in flight. To be answered by `putBack`, `rest` or `take`. */
  onReturned(message: Message, how: 'nack' | 'timeout'): void;
}

/** What an outlet must be told. */
export interface OutletSettings {
  readonly name: PzqOutletName;
  readonly epoch: bigint;
  readonly ackTimeoutMs: number;
  /** Of which each consumer has its share. */
  readonly maxInFlight: number;
  readonly maxInFlightBytes: number;
}

/** Every operation is O(log n) in the messages in memory or better. */
export class ConsumerSide {
  readonly name: PzqOutletName;
  readonly consumers: Consumers;
  readonly #settings: OutletSettings;
  readonly #entropy: Entropy;
  readonly #inFlight: InFlight;
  readonly #out: Output;
  readonly #owner: OutletOwner;
  readonly #messages = new Map<number, Message>();
  readonly #ready = new DeadlineHeap<Message>();
  readonly #resting = new DeadlineHeap<Message>();
  readonly #leases: DeadlineList<Message>;
  #readyBytes = 0;
  #inFlightBytes = 0;
  /** The one message whose offer has no outcome yet. It may be gone already. */
  #offer: Message | undefined;
  #notBefore = -Infinity;

  constructor(settings: OutletSettings, entropy: Entropy, inFlight: InFlight, out: Output, owner: OutletOwner) {
    this.name = settings.name;
    this.consumers = new Consumers(settings.name, settings.maxInFlight, settings.maxInFlightBytes, out);
    this.#settings = settings;
    this.#entropy = entropy;
    this.#inFlight = inFlight;
    this.#out = out;
    this.#owner = owner;
    this.#leases = new DeadlineList(settings.ackTimeoutMs);
  }

  /** Messages in memory, wherever they are. */
  get size(): number {
    return this.#messages.size;
  }

  /** Messages that wait for a consumer. */
  get ready(): number {
    return this.#ready.size;
  }

  get readyBytes(): number {
    return this.#readyBytes;
  }

  /** Messages that are delivered and not answered. */
  get inFlight(): number {
    return this.#leases.size;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get resting(): number {
    return this.#resting.size;
  }

  /** True while the outcome of an offer is open. */
  get offering(): boolean {
    return this.#offer !== undefined;
  }

  /** When a lease ends, a rest is over, or, while it `delivers`, a further offer is allowed. */
  deadline(delivers: boolean): number {
    return Math.min(
      this.#leases.deadline,
      this.#resting.deadline,
      delivers && this.#mayOffer() ? this.#notBefore : Infinity,
    );
  }

  find(seq: number): Message | undefined {
    return this.#messages.get(seq);
  }

  /** A message that is not in memory yet takes its place by sequence. */
  add(stored: StoredMessage): void {
    const message = new Message(stored);
    this.#messages.set(message.seq, message);
    this.#enqueue(message);
  }

  /** Offers the next message, unless there is none, an offer is open, or too much is in flight. */
  offer(): void {
    while (this.#mayOffer() && this.#notBefore <= this.#out.now) {
      const message = this.#ready.first as Message;
      if (this.#owner.overdue(message)) continue;
      this.#dequeue(message);
      message.where = 'offered';
      this.#inFlight.take(message);
      this.#offer = message;
      this.#notBefore = this.#out.now + OFFER_SPACING_MS;
      this.#push(message);
      return;
    }
  }

  /** The socket has taken the offer over, for this consumer if it knows: rule 12, the lease begins. */
  delivered(peer?: Peer): void {
    const message = this.#takeOffer();
    this.#notBefore = -Infinity;
    if (message === undefined) return;
    this.#out.counters.delivered++;
    if (message.deliveries++ > 0) this.#out.counters.redelivered++;
    if (message.where === 'gone') return;
    message.where = 'in-flight';
    message.holder = peer && this.consumers.took(peer, message.bytes);
    this.#inFlightBytes += message.bytes;
    this.#leases.renew(message.lease, this.#out.now);
    if (message.givenBack) this.giveBack(message);
  }

  /** Nobody took it: it is ready as before, and will be encoded anew. */
  blocked(): void {
    const message = this.#takeOffer();
    if (message === undefined || message.where === 'gone') return;
    message.givenBack = false;
    this.#inFlight.give(message);
    this.#enqueue(message);
  }

  /** A negative acknowledgement: tells whether it means anything. */
  giveBack(message: Message): boolean {
    if (message.where === 'offered') {
      message.givenBack = true;
      return true;
    }
    if (message.where !== 'in-flight') return false;
    message.givenBack = false;
    this.#endLease(message);
    this.#owner.onReturned(message, 'nack');
    return true;
  }

  /** The lease starts anew; false when there is none. */
  extend(message: Message): boolean {
    if (message.where !== 'in-flight') return false;
    this.#leases.renew(message.lease, this.#out.now);
    return true;
  }

  /** A message that came back is ready again, before all that were never delivered: rule 11. */
  putBack(message: Message): void {
    this.#inFlight.give(message);
    message.returned = true;
    this.#enqueue(message);
  }

  /** A message that came back is ready again later; until then it counts as in flight. */
  rest(message: Message, ms: number): void {
    message.where = 'resting';
    this.#resting.set(message.place, this.#out.now + ms);
  }

  /** Takes a message out of memory, wherever it is. */
  take(message: Message): void {
    switch (message.where) {
      case 'ready':
        this.#dequeue(message);
        break;
      case 'resting':
        this.#resting.remove(message.place);
        this.#inFlight.give(message);
        break;
      case 'offered':
        this.#inFlight.give(message);
        break;
      case 'in-flight':
        this.#endLease(message);
        this.#inFlight.give(message);
        break;
      case 'returned':
        this.#inFlight.give(message);
        break;
      case 'gone':
        return;
    }
    message.where = 'gone';
    this.#messages.delete(message.seq);
  }

  /** Takes all ready messages out of memory and returns their sequences. */
  takeReady(): number[] {
    const seqs: number[] = [];
    for (let message = this.#ready.first; message !== undefined; message = this.#ready.first) {
      this.take(message);
      seqs.push(message.seq);
    }
    return seqs;
  }

  /** Brings back what was not answered in time, and what has rested. */
  onTimer(): void {
    const { now } = this.#out;
    for (let late = this.#leases.takeDue(now); late !== undefined; late = this.#leases.takeDue(now)) {
      this.#endLease(late);
      this.#owner.onReturned(late, 'timeout');
    }
    for (let rested = this.#resting.takeDue(now); rested !== undefined; rested = this.#resting.takeDue(now)) {
      this.putBack(rested);
    }
  }

  /** This process could not listen: acknowledgements may lie in its sockets. */
  postpone(ms: number): void {
    this.#leases.postpone(ms, this.#out.now);
  }

  /** For invariants. */
  messages(): IterableIterator<Message> {
    return this.#messages.values();
  }

  #mayOffer(): boolean {
    const next = this.#ready.first;
    return next !== undefined && this.#offer === undefined && this.#inFlight.hasRoomFor(next);
  }

  #push({ stored }: Message): void {
    const { epoch, ackTimeoutMs } = this.#settings;
    this.#out.push({
      kind: 'deliver',
      outlet: this.name,
      command: {
        kind: 'delivery',
        key: encodePzqKey({ storedMicros: stored.storedMicros, epoch, seq: stored.seq }),
        sentMicros: this.#entropy.wallMicros(),
        ackTimeoutMicros: ackTimeoutMs * 1000,
        body: stored.body,
      },
    });
  }

  /** The message is with nobody any more, and its owner decides what becomes of it. */
  #endLease(message: Message): void {
    message.where = 'returned';
    if (message.holder !== undefined) this.consumers.returned(message.holder, message.bytes);
    message.holder = undefined;
    this.#inFlightBytes -= message.bytes;
    this.#leases.remove(message.lease);
  }

  #takeOffer(): Message | undefined {
    const message = this.#offer;
    this.#offer = undefined;
    return message;
  }

  #enqueue(message: Message): void {
    message.where = 'ready';
    this.#readyBytes += message.bytes;
    this.#ready.set(message.place, message.returned ? RETURNED_RANK + message.seq : message.seq);
  }

  #dequeue(message: Message): void {
    this.#ready.remove(message.place);
    this.#readyBytes -= message.bytes;
  }
}
