/**
 * PZQ: one outlet of the queue. Messages in memory wait in order, are offered one at a time, and are in flight until they are settled or come
 * back; then the owner decides. Rules 10 to 14, 16 and 17 of docs/protocols/pzq.md.
 */
import { encodePzqKey } from '@proj/frames/pzq';
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { Entropy, Peer } from '@proj/transport';
import { keptFrames, setSince } from '@proj/transport/engine';
import type { PzqSettings } from '../../options.js';
import type { PzqOutletName } from '../events.js';
import { Consumers } from './consumers.js';
import { type HeldMessage, type InFlight, Message } from './in-flight.js';
import type { Output } from '../output.js';

/** Minimum time between offers that nobody took, in case the socket did not wait. */
const OFFER_SPACING_MS = 50;
/** Makes the ranks of redelivered messages negative: they go before all others, by sequence. Exact for all sequences. */
const RETURNED_RANK = -(2 ** 53);

/** The decisions of a {@link ConsumerSide}'s owner. */
export interface ConsumerSideOwner {
  /** True if the message must no longer be delivered; the owner has then removed it. */
  overdue(message: Message): boolean;
  /**
   * Returned or timed out; it still counts as in flight. The owner answers with `putBack`, `rest` or `take`, and says whether it will be
   * delivered again.
   */
  onReturned(message: Message, how: 'nack' | 'timeout'): boolean;
}

/** Every operation is O(log n) in the messages in memory, or better. */
export class ConsumerSide {
  readonly name: PzqOutletName;
  readonly consumers: Consumers;
  readonly #epoch: bigint;
  readonly #ackTimeoutMs: number;
  readonly #entropy: Entropy;
  readonly #inFlight: InFlight;
  readonly #out: Output;
  readonly #owner: ConsumerSideOwner;
  readonly #messages = new Map<number, Message>();
  readonly #ready = new DeadlineHeap<Message>();
  readonly #resting = new DeadlineHeap<Message>();
  readonly #leases: DeadlineList<Message>;
  #readyBytes = 0;
  #inFlightBytes = 0;
  /** The one message whose offer has no outcome yet. It may already be gone. */
  #offer: Message | undefined;
  #notBefore = -Infinity;

  constructor(
    name: PzqOutletName,
    epoch: bigint,
    settings: Pick<PzqSettings, 'ackTimeoutMs' | 'maxInFlight' | 'maxInFlightBytes'>,
    entropy: Entropy,
    inFlight: InFlight,
    out: Output,
    owner: ConsumerSideOwner,
  ) {
    this.name = name;
    this.consumers = new Consumers(name, settings.maxInFlight, settings.maxInFlightBytes, out);
    this.#epoch = epoch;
    this.#ackTimeoutMs = settings.ackTimeoutMs;
    this.#entropy = entropy;
    this.#inFlight = inFlight;
    this.#out = out;
    this.#owner = owner;
    this.#leases = new DeadlineList(settings.ackTimeoutMs);
  }

  /** Messages in memory, in any state. */
  get size(): number {
    return this.#messages.size;
  }

  /** Messages waiting for a consumer. */
  get ready(): number {
    return this.#ready.size;
  }

  get readyBytes(): number {
    return this.#readyBytes;
  }

  /** Messages delivered and unanswered. */
  get inFlight(): number {
    return this.#leases.size;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get resting(): number {
    return this.#resting.size;
  }

  /** True while an offer has no outcome. */
  get offering(): boolean {
    return this.#offer !== undefined;
  }

  /** When a lease or rest ends, or, while it `delivers`, when the next offer is allowed. */
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

  /** Takes a message into memory, at its place by sequence. `since`: when it became ready. */
  add(stored: HeldMessage, since = this.#out.timeOf(stored.storedMicros)): void {
    const message = new Message(stored, since);
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

  /** Rule 12: the socket has taken the offer, for this consumer if known. The lease begins. */
  delivered(peer?: Peer): void {
    const message = this.#takeOffer();
    this.#notBefore = -Infinity;
    if (message === undefined) return;
    this.#out.counters.delivered++;
    const figures = this.#out.figures[this.name];
    figures.dispatched(message, this.#out.now);
    if (message.deliveries++ > 0) {
      this.#out.counters.redelivered++;
      figures.resends++;
    }
    if (message.where === 'gone') return;
    message.where = 'in-flight';
    message.holder = peer && this.consumers.took(peer, message.bytes);
    this.#inFlightBytes += message.bytes;
    this.#leases.renew(message.lease, this.#out.now);
    if (message.givenBack) this.giveBack(message);
  }

  /** Nobody took the offer: the message is ready again, and will be encoded anew. */
  blocked(): void {
    const message = this.#takeOffer();
    if (message === undefined || message.where === 'gone') return;
    message.givenBack = false;
    this.#inFlight.give(message);
    this.#enqueue(message);
  }

  /** A negative acknowledgement of a message that is offered or in flight. */
  giveBack(message: Message): void {
    message.givenBack = message.where === 'offered';
    if (message.givenBack) return;
    this.#out.counters.nacked++;
    this.#comeBack(message, 'nack');
  }

  /** A consumer has finished it; its work time is known if it still had the message. */
  done(message: Message): void {
    const { holder, where } = message;
    const figures = this.#out.figures[this.name];
    if (where === 'in-flight') figures.finished(message, this.#out.now);
    else figures.ended('ok');
    if (holder === undefined) return;
    holder.done++;
    holder.lastSeen = Math.floor(this.#out.now);
  }

  /** Restarts the lease of a message in flight. */
  extend(message: Message): void {
    if (message.holder !== undefined) message.holder.lastSeen = Math.floor(this.#out.now);
    this.#leases.renew(message.lease, this.#out.now);
  }

  /** Rule 11: a returned message is ready again, before all that were never delivered. */
  putBack(message: Message): void {
    this.#inFlight.give(message);
    message.returned = true;
    setSince(message, this.#out.now);
    this.#enqueue(message);
  }

  /** A returned message is ready again in `ms`; until then it counts as in flight. */
  rest(message: Message, ms: number): void {
    message.where = 'resting';
    this.#resting.set(message.place, this.#out.now + ms);
  }

  /** Removes a message from memory, in any state. */
  take(message: Message): void {
    switch (message.where) {
      case 'ready':
        this.#dequeue(message);
        break;
      case 'resting':
        this.#resting.remove(message.place);
        this.#inFlight.give(message);
        break;
      case 'in-flight':
        this.#endLease(message);
        this.#inFlight.give(message);
        break;
      case 'offered':
      case 'returned':
        this.#inFlight.give(message);
        break;
      case 'gone':
        return;
    }
    message.where = 'gone';
    this.#messages.delete(message.seq);
  }

  /** Removes all ready messages from memory and returns their sequences. */
  takeReady(): number[] {
    const seqs: number[] = [];
    for (let message = this.#ready.first; message !== undefined; message = this.#ready.first) {
      this.take(message);
      seqs.push(message.seq);
    }
    return seqs;
  }

  /** Returns messages whose lease or rest is over. */
  onTimer(): void {
    const { now } = this.#out;
    for (let late = this.#leases.takeDue(now); late !== undefined; late = this.#leases.takeDue(now)) {
      this.#out.counters.timedOut++;
      this.#comeBack(late, 'timeout');
    }
    for (let rested = this.#resting.takeDue(now); rested !== undefined; rested = this.#resting.takeDue(now)) {
      this.putBack(rested);
    }
  }

  /** Our process could not listen: acknowledgements may be unread in its sockets. */
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
    const sentMicros = this.#entropy.wallMicros();
    this.#out.sawWall(sentMicros);
    this.#out.effects.push({
      kind: 'deliver',
      outlet: this.name,
      command: {
        kind: 'delivery',
        key: encodePzqKey({ storedMicros: stored.storedMicros, epoch: this.#epoch, seq: stored.seq }),
        sentMicros,
        ackTimeoutMicros: this.#ackTimeoutMs * 1000,
        body: keptFrames(stored.body),
      },
    });
  }

  #comeBack(message: Message, how: 'nack' | 'timeout'): void {
    const { holder } = message;
    this.#endLease(message);
    const isResent = this.#owner.onReturned(message, how);
    if (holder === undefined) return;
    if (isResent) holder.resends++;
    if (how === 'nack') holder.lastSeen = Math.floor(this.#out.now);
  }

  /** No consumer has the message any more; its owner decides what happens to it. */
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
