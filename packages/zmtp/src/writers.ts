/** What is written at the end of a turn. A message for thousands of peers causes as many writes, which would be too long for one turn. */
import { Fifo } from '@proj/transport/adapter';
import type { Watch } from './watch.js';

/** Something that writes at the end of a turn. */
export interface Writing {
  /** Writes the output of this turn. */
  onWrite(now: number): void;
}

/** How long a turn runs its own writers, and how long the late ones. Milliseconds. */
const MS_PER_TURN = 1;
/** Writers that a reader may add to a turn. Those that it adds after them are late: they must not hold up the answers to others. */
const FRESH_MAX = 16;
/** Writers after which the clock is read. */
const WRITERS_PER_LOOK = 4;

/** Writers wait in the order in which they came, but the late ones behind those of the turn: these are left from earlier turns, or too many for one reader. */
export class Writers {
  readonly #watch: Pick<Watch, 'now'>;
  readonly #fresh = new Fifo<Writing>();
  readonly #late = new Fifo<Writing>();
  #added = 0;
  /** The same, when the reader began, or the turn. */
  #addedBefore = 0;
  /** Late ones so far, and those of them that have run. */
  #wereLate = 0;
  #ran = 0;
  #asking: (() => void)[] = [];
  /** Whom to call back once so many late ones have run. */
  readonly #waiting = new Fifo<{ readonly ran: number; readonly tell: () => void }>();

  constructor(watch: Pick<Watch, 'now'>) {
    this.#watch = watch;
  }

  /** True while some are left from earlier turns. */
  get areLate(): boolean {
    return this.#late.length > 0;
  }

  /** How many were added so far. */
  get added(): number {
    return this.#added;
  }

  /** From here on, what is added is another reader's. */
  begin(): void {
    this.#addedBefore = this.#added;
  }

  push(writer: Writing): void {
    if (this.#added++ - this.#addedBefore < FRESH_MAX) this.#fresh.push(writer);
    else this.#pushLate(writer);
  }

  #pushLate(writer: Writing): void {
    this.#late.push(writer);
    this.#wereLate++;
  }

  /** Calls back once those of this turn, and all that are late by then, have run. */
  onceRun(tell: () => void): void {
    this.#asking.push(tell);
  }

  /** Runs those of this turn, and then late ones; the rest is late. Returns how many are of this turn. */
  run(): number {
    this.begin();
    const asking = this.#asking;
    this.#asking = [];
    const { length: late } = this.#late;
    const { length } = this.#fresh;
    for (let left = length - this.#runSome(this.#fresh, length); left > 0; left--)
      this.#pushLate(this.#fresh.shift() as Writing);
    for (const tell of asking) this.#waiting.push({ ran: this.#wereLate, tell });
    this.#ran += this.#runSome(this.#late, late);
    while ((this.#waiting.peek()?.ran ?? Infinity) <= this.#ran) this.#waiting.shift()?.tell();
    return length;
  }

  /** Runs at most so many. Returns how many it ran. */
  #runSome(writers: Fifo<Writing>, most: number): number {
    const began = this.#watch.now();
    let now = began;
    let count = 0;
    // The clock may step back.
    while (count < most && Math.abs(now - began) < MS_PER_TURN) {
      writers.shift()?.onWrite(now);
      if (++count % WRITERS_PER_LOOK === 0) now = this.#watch.now();
    }
    return count;
  }
}
