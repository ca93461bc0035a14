/** Work that grows with what others hold, done in slices so that no step takes long. Knows no protocol. */
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** Pieces of work in one step: many of them tell a client and subscribers something. */
export const SLICE = 64;

/** The same for pieces that send nothing. */
export const QUIET_SLICE = 512;

/** The part of a slice that another errand gets at once while others are in progress: thousands of peers may leave at the same time. */
const FIRST_PART = 1 / 8;

/** Milliseconds before the next step continues; other peers are served in between. */
export const PAUSE_MS = 1;

/** The longest pause after a slice that took longer than {@link PAUSE_MS}, with what it has caused: others get as much time. Milliseconds. */
const REST_MAX_MS = 20;

/** Work in pieces. Each `yield` ends one; a number says that it was as much work as so many. */
type Pieces = Iterator<unknown, unknown>;

interface Errand {
  readonly about: object;
  readonly pieces: Pieces;
}

/** Work in progress; errands take turns. */
export class Errands {
  readonly #turns = new RemovableQueue<Errand>();
  readonly #slots = new Map<object, QueueSlot<Errand>>();
  readonly #slice: number;
  #goesOnAt = Infinity;
  /** What is left of the slice of this moment, however many errands begin in it. */
  #left = 0;
  #moment = -Infinity;
  /** Others have had their time after the last slice. */
  #hasRested = false;

  constructor(slice = SLICE) {
    this.#slice = slice;
  }

  /** When {@link goOn} has something to do. */
  get deadline(): number {
    return this.#goesOnAt;
  }

  /** True while there is work in progress about this. */
  has(about: object): boolean {
    return this.#slots.has(about);
  }

  /** Does the first pieces now, fewer of them if other work is in progress, and the rest later. Replaces work in progress about the same thing. */
  begin(about: object, work: Pieces, now: number): void {
    const before = this.#slots.get(about);
    if (before !== undefined) this.#turns.remove(before);
    const slot = new QueueSlot<Errand>({ about, pieces: work });
    this.#slots.set(about, slot);
    this.#turns.push(slot);
    if (now !== this.#moment) this.#refill(now, this.#turns.size > 1 ? FIRST_PART : 1);
    this.#do(slot);
    if (this.#turns.size > 0 && this.#goesOnAt === Infinity) this.#goesOnAt = now + PAUSE_MS;
  }

  /**
   * Does the next pieces if they are due, after others have had as much time as the last ones took: without it, slices of 1 ms that are due every
   * millisecond would leave a reader one message each.
   */
  goOn(now: number): void {
    if (now < this.#goesOnAt) return;
    const took = now - this.#moment;
    if (took > PAUSE_MS && !this.#hasRested) {
      this.#hasRested = true;
      this.#goesOnAt = now + Math.min(took, REST_MAX_MS);
      return;
    }
    this.#refill(now);
    while (this.#left > 0) {
      const about = this.#turns.first?.about;
      const slot = about === undefined ? undefined : this.#slots.get(about);
      if (slot === undefined) break;
      if (!this.#do(slot) && this.#turns.remove(slot)) this.#turns.push(slot);
    }
    this.#goesOnAt = this.#turns.size > 0 ? now + PAUSE_MS : Infinity;
  }

  /** Abandons all work in progress. */
  clear(): void {
    for (const slot of this.#slots.values()) this.#turns.remove(slot);
    this.#slots.clear();
    this.#goesOnAt = Infinity;
  }

  #refill(now: number, part = 1): void {
    this.#moment = now;
    this.#hasRested = false;
    this.#left = this.#slice * part;
  }

  /** Does what the slice has room for; the end of an errand counts as a piece. Returns true when the work is finished. */
  #do(slot: QueueSlot<Errand>): boolean {
    const { about, pieces } = slot.value;
    while (this.#left > 0) {
      const { done, value } = pieces.next();
      this.#left -= typeof value === 'number' ? value : 1;
      if (done !== true) continue;
      this.#turns.remove(slot);
      if (this.#slots.get(about) === slot) this.#slots.delete(about);
      return true;
    }
    return false;
  }
}
