/** PZQ: the consumers of an outlet, what each has, and which get nothing more for now. Rules 16 and 42 of docs/protocols/pzq.md. */
import type { Peer } from '@proj/transport';
import { hexOf, nameOf, setSince, type Timed } from '@proj/transport/engine';
import type { PzqOutletName } from '../events.js';
import type { Output } from '../output.js';

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
