/** PZQ: messages in memory, how much is in flight, and which consumer has it. Rules 11 and 16 of docs/protocols/pzq.md. */
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { hexOf, nameOf, setSince, type Timed } from '@proj/transport/engine';
import type { PzqSettings } from '../../options.js';
import type { StoredMessage } from '../../store/store.js';
import type { PzqOutletName } from '../events.js';
import type { Output } from '../output.js';

/** A message of the store that is in memory. The body is never copied. */
export class Message implements Timed {
  readonly stored: StoredMessage;
  /** `returned`: only while its owner decides; `gone`: settled, given up or returned to the store. */
  where: 'ready' | 'offered' | 'in-flight' | 'returned' | 'resting' | 'gone' = 'ready';
  deliveries: number;
  /** When it became ready, or was delivered. */
  sinceSpan = 0;
  sinceUs = 0;
  /** Rule 11: it was delivered before, and goes before all that were not. */
  returned = false;
  /** Returned before the outcome of its offer was known. */
  givenBack = false;
  /** The consumer that has it while it is in flight, if known. */
  holder: Consumer | undefined;
  /** @internal Its place among the ready messages, by rank, or among the resting ones, by time. */
  readonly place = new HeapDeadline<Message>(this);
  /** @internal */
  readonly lease = new Deadline<Message>(this);

  /** `since`: when it became ready. */
  constructor(stored: StoredMessage, since: number) {
    setSince(this, since);
    this.stored = stored;
    this.deliveries = stored.deliveries;
  }

  get seq(): number {
    return this.stored.seq;
  }

  get bytes(): number {
    return this.stored.bytes;
  }
}

/** Rule 16: everything in flight over all outlets. Offered and resting messages count too. */
export class InFlight {
  readonly #max: number;
  readonly #maxBytes: number;
  #count = 0;
  #bytes = 0;

  constructor(settings: Pick<PzqSettings, 'maxInFlight' | 'maxInFlightBytes'>) {
    this.#max = settings.maxInFlight;
    this.#maxBytes = settings.maxInFlightBytes;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many more messages there is room for, if their bytes allow. */
  get room(): number {
    return this.#bytes < this.#maxBytes ? this.#max - this.#count : 0;
  }

  /** A single message may be of any size. */
  hasRoomFor({ bytes }: Message): boolean {
    return this.#count < this.#max && (this.#count === 0 || this.#bytes + bytes <= this.#maxBytes);
  }

  take({ bytes }: Message): void {
    this.#count++;
    this.#bytes += bytes;
  }

  give({ bytes }: Message): void {
    this.#count--;
    this.#bytes -= bytes;
  }
}

/** A consumer that is connected, or was when it took a message. */
export interface Consumer extends Timed {
  readonly peer: Peer;
  /** Messages it has taken and not answered, and their bytes. */
  count: number;
  bytes: number;
  /** It gets nothing for now. */
  isHeld: boolean;
  /** Rule 42: it gets nothing any more. */
  isDismissed: boolean;
  /** Messages that it acknowledged, and that came back from it. */
  done: number;
  resends: number;
  /** When it connected, or last sent something, in whole milliseconds. */
  lastSeen: number;
}

/**
 * The consumers of one outlet, if the transport distinguishes them. One that has its share gets nothing more while others have room: rule 16.
 * O(1) per message and per consumer.
 */
export class Consumers {
  readonly #name: PzqOutletName;
  readonly #max: number;
  readonly #maxBytes: number;
  readonly #out: Output;
  readonly #connected = new Map<string, Consumer>();

  /** All consumers have equal shares of `max` messages and `maxBytes` in flight. */
  constructor(name: PzqOutletName, max: number, maxBytes: number, out: Output) {
    this.#name = name;
    this.#max = max;
    this.#maxBytes = maxBytes;
    this.#out = out;
  }

  /** Those that are connected. */
  get connected(): ReadonlyMap<string, Consumer> {
    return this.#connected;
  }

  came(peer: Peer): void {
    const consumer = {
      peer,
      count: 0,
      bytes: 0,
      isHeld: false,
      isDismissed: false,
      done: 0,
      resends: 0,
      lastSeen: Math.floor(this.#out.now),
      sinceSpan: 0,
      sinceUs: 0,
    };
    setSince(consumer, this.#out.now);
    this.#connected.set(peer.key, consumer);
  }

  /** Its messages come back when their leases end. */
  gone({ key }: Peer): void {
    this.#connected.delete(key);
  }

  /** It has taken a message of this many bytes. Returns `undefined` for an unknown consumer. */
  took({ key }: Peer, bytes: number): Consumer | undefined {
    const consumer = this.#connected.get(key);
    if (consumer === undefined) return undefined;
    if (consumer.count++ === 0) setSince(consumer, this.#out.now);
    consumer.bytes += bytes;
    if (!consumer.isHeld && this.#connected.size > 1 && this.#hasShare(consumer)) this.#hold(consumer, true);
    return consumer;
  }

  /** It no longer has a message that it took. */
  returned(consumer: Consumer, bytes: number): void {
    if (--consumer.count === 0) setSince(consumer, this.#out.now);
    consumer.bytes -= bytes;
    if (consumer.isHeld && !consumer.isDismissed && !this.#hasShare(consumer)) this.#hold(consumer, false);
  }

  /** Connected consumers with this routing id, as text or in hex. */
  named(name: string): Consumer[] {
    return [...this.#connected.values()].filter(({ peer }) => nameOf(peer) === name || hexOf(peer) === name);
  }

  /** Rule 42: they get nothing more. */
  dismiss(name: string): void {
    for (const consumer of this.named(name)) {
      consumer.isDismissed = true;
      if (!consumer.isHeld) this.#hold(consumer, true);
    }
  }

  #hasShare({ count, bytes }: Consumer): boolean {
    const { size } = this.#connected;
    return count * size >= this.#max || bytes * size >= this.#maxBytes;
  }

  #hold(consumer: Consumer, held: boolean): void {
    consumer.isHeld = held;
    this.#out.effects.push({ kind: 'hold', outlet: this.#name, peer: consumer.peer, held });
  }
}
