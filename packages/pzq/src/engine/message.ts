/** PZQ: a message in the engine's memory, and how much of the consumers' attention is taken. */
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import type { Consumer } from './consumers.js';
import type { StoredMessage } from '../store/store.js';

/** Where a message is. `returned`: only while its owner decides; `gone`: settled, given up or given back to the store. */
export type Whereabouts = 'ready' | 'offered' | 'in-flight' | 'returned' | 'resting' | 'gone';

/** A message of the store that is in memory. The body is never copied. */
export class Message {
  readonly stored: StoredMessage;
  where: Whereabouts = 'ready';
  deliveries: number;
  /** It was delivered before and takes its place before all that were not: rule 11. */
  returned = false;
  /** Given back while the outcome of its offer was still unknown. */
  givenBack = false;
  /** Who has it, while it is in flight, as far as that is known. */
  holder: Consumer | undefined;
  /** @internal Its place among the ready ones, by rank, or among the resting ones, by time. */
  readonly place = new HeapDeadline<Message>(this);
  /** @internal */
  readonly lease = new Deadline<Message>(this);

  constructor(stored: StoredMessage) {
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

/** What all outlets together may have in flight: rule 16. Messages that are offered or rest count as well. */
export class InFlight {
  readonly #max: number;
  readonly #maxBytes: number;
  #count = 0;
  #bytes = 0;

  constructor(settings: { readonly maxInFlight: number; readonly maxInFlightBytes: number }) {
    this.#max = settings.maxInFlight;
    this.#maxBytes = settings.maxInFlightBytes;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many further messages there is room for, as far as their bytes allow. */
  get room(): number {
    return this.#bytes < this.#maxBytes ? this.#max - this.#count : 0;
  }

  /** A message that is alone may be of any size. */
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
