/** PZQ: messages in memory, and how much of them is in flight. Rules 11 and 16 of docs/protocols/pzq.md. */
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import { keptCount, type KeptBody, setSince, type Timed } from '@proj/transport/engine';
import type { PzqSettings } from '../../options.js';
import { memoryOfFrames } from '../../store/body.js';
import type { StoredMessage } from '../../store/store.js';
import type { Consumer } from './consumers.js';

/** A message of the store as it is kept in memory. */
export interface HeldMessage extends Omit<StoredMessage, 'body'> {
  readonly body: KeptBody;
}

/** A message of the store that is in memory, and where it is. */
export class Message implements Timed {
  readonly stored: HeldMessage;
  /** Memory of its body. */
  readonly bytes: number;
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
  constructor(stored: HeldMessage, since: number) {
    setSince(this, since);
    this.stored = stored;
    this.bytes = memoryOfFrames(keptCount(stored.body), stored.bytes);
    this.deliveries = stored.deliveries;
  }

  get seq(): number {
    return this.stored.seq;
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
