/** Work about one thing that grows with what others have: some of it in each step, so that no step lasts. No protocol. */
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** Pieces of work in one step. */
const SLICE = 128;

/** How soon a step goes on with what is left, in milliseconds: others have their turn in between. */
const PAUSE_MS = 1;

interface Errand {
  readonly about: object;
  /** Each `yield` ends a piece. */
  readonly pieces: Iterator<void>;
}

/** Work that is under way, each in turn. */
export class Errands {
  readonly #turns = new RemovableQueue<Errand>();
  readonly #places = new Map<object, QueueSlot<Errand>>();
  #goesOnAt = Infinity;

  /** When {@link goOn} has something to do. */
  get deadline(): number {
    return this.#goesOnAt;
  }

  /** Does the first pieces, and the others later. What is under way about the same thing is not gone on with. */
  begin(about: object, work: Iterator<void>, now: number): void {
    const before = this.#places.get(about);
    if (before !== undefined) this.#turns.remove(before);
    const place = new QueueSlot<Errand>({ about, pieces: work });
    this.#places.set(about, place);
    this.#turns.push(place);
    this.#do(place, SLICE);
    if (this.#turns.size > 0 && this.#goesOnAt === Infinity) this.#goesOnAt = now + PAUSE_MS;
  }

  /** The next pieces, when they are due. */
  goOn(now: number): void {
    if (now < this.#goesOnAt) return;
    const place = this.#turns.first === undefined ? undefined : this.#places.get(this.#turns.first.about);
    if (place !== undefined && !this.#do(place, SLICE) && this.#turns.remove(place)) this.#turns.push(place);
    this.#goesOnAt = this.#turns.size > 0 ? now + PAUSE_MS : Infinity;
  }

  /** Nothing is gone on with. */
  clear(): void {
    for (const place of this.#places.values()) this.#turns.remove(place);
    this.#places.clear();
    this.#goesOnAt = Infinity;
  }

  /** True when all of it is done. */
  #do(place: QueueSlot<Errand>, pieces: number): boolean {
    const { about, pieces: work } = place.value;
    for (let left = pieces; left > 0; left--) {
      if (work.next().done !== true) continue;
      this.#turns.remove(place);
      if (this.#places.get(about) === place) this.#places.delete(about);
      return true;
    }
    return false;
  }
}
