/**
 * PZQ: who of the consumers has how much of what is in flight, where the transport can tell them apart. Who has its share gets
 * nothing more while others have room: rule 16 of docs/protocols/pzq.md.
 */
import type { Peer } from '@proj/transport';
import type { PzqOutletName } from './events.js';
import type { Output } from './output.js';

/** One that is connected, or was when it took a message. */
export interface Consumer {
  readonly peer: Peer;
  /** Messages it has taken and not answered, and their bytes. */
  count: number;
  bytes: number;
  /** It gets nothing now. */
  isHeld: boolean;
}

/** The consumers of one outlet. O(1) per message and per consumer. */
export class Consumers {
  readonly #name: PzqOutletName;
  readonly #max: number;
  readonly #maxBytes: number;
  readonly #out: Output;
  readonly #connected = new Map<string, Consumer>();

  /** Of `max` messages and `maxBytes` in flight all have equal shares. */
  constructor(name: PzqOutletName, max: number, maxBytes: number, out: Output) {
    this.#name = name;
    this.#max = max;
    this.#maxBytes = maxBytes;
    this.#out = out;
  }

  came(peer: Peer): void {
    this.#connected.set(peer.key, { peer, count: 0, bytes: 0, isHeld: false });
  }

  /** What it has comes back in time. */
  gone({ key }: Peer): void {
    this.#connected.delete(key);
  }

  /** It has taken a message of so many bytes; `undefined` for one that was never told of. */
  took({ key }: Peer, bytes: number): Consumer | undefined {
    const consumer = this.#connected.get(key);
    if (consumer === undefined) return undefined;
    consumer.count++;
    consumer.bytes += bytes;
    if (!consumer.isHeld && this.#connected.size > 1 && this.#hasShare(consumer)) this.#hold(consumer, true);
    return consumer;
  }

  /** A message that it took is with it no more. */
  returned(consumer: Consumer, bytes: number): void {
    consumer.count--;
    consumer.bytes -= bytes;
    if (consumer.isHeld && !this.#hasShare(consumer)) this.#hold(consumer, false);
  }

  #hasShare({ count, bytes }: Consumer): boolean {
    const { size } = this.#connected;
    return count * size >= this.#max || bytes * size >= this.#maxBytes;
  }

  #hold(consumer: Consumer, held: boolean): void {
    consumer.isHeld = held;
    this.#out.push({ kind: 'hold', outlet: this.#name, peer: consumer.peer, held });
  }
}
