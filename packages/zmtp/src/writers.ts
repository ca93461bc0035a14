/** What is written at the end of a turn. A message for thousands of peers causes as many writes, which would be too long for one turn. */
import { Fifo } from '@proj/transport/adapter';
import type { Watch } from './watch.js';

/** Something that writes at the end of a turn. */
export interface Writing {
  /** It is hardly known yet: a crowd that connects must not hold up the answers to others. */
  readonly isStranger?: boolean;
  /** Writes the output of this turn. */
  onWrite(now: number): void;
}

/** How long a turn runs its own writers, and how long the late ones and strangers. Milliseconds. */
const MS_PER_TURN = 1;
/** Writers that a reader may add to a turn. Those that it adds after them are late: they must not hold up the answers to others. */
const FRESH_MAX = 16;
/** Writers after which the clock is read. */
const WRITERS_PER_LOOK = 4;

/** Some that wait in the order in which they came. */
class Line {
  readonly #waiting = new Fifo<Writing>();
  /** How many have joined so far, and how many of them have run. */
  joined = 0;
  ran = 0;

  get length(): number {
    return this.#waiting.length;
  }

  push(writer: Writing): void {
    this.#waiting.push(writer);
    this.joined++;
  }

  shift(): Writing | undefined {
    const writer = this.#waiting.shift();
    if (writer !== undefined) this.ran++;
    return writer;
  }
}

/** Whom to call back, and once how many late ones and strangers have run. */
interface Wish {
  readonly late: number;
  readonly strangers: number;
  readonly tell: () => void;
}

/**
 * Writers wait in the order in which they came, but the late ones behind those of the turn: these are left from earlier turns, or too many for one
 * reader. Strangers have a line of their own, which shares its time with that of the late ones.
 */
export class Writers {
  readonly #watch: Pick<Watch, 'now'>;
  readonly #fresh = new Fifo<Writing>();
  readonly #late = new Line();
  readonly #strangers = new Line();
  #added = 0;
  /** The same, when the reader began, or the turn. */
  #addedBefore = 0;
  /** They take turns with the late ones, in which the others may get no time. */
  #areStrangersFirst = false;
  #asking: (() => void)[] = [];
  readonly #wishes = new Fifo<Wish>();

  constructor(watch: Pick<Watch, 'now'>) {
    this.#watch = watch;
  }

  /** True while some are left from earlier turns. */
  get areLate(): boolean {
    return this.#late.length + this.#strangers.length > 0;
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
    const isOneOfMany = this.#added++ - this.#addedBefore >= FRESH_MAX;
    if (writer.isStranger === true) this.#strangers.push(writer);
    else if (isOneOfMany) this.#late.push(writer);
    else this.#fresh.push(writer);
  }

  /** Calls back once those of this turn, and all that are late by then, have run. */
  onceRun(tell: () => void): void {
    this.#asking.push(tell);
  }

  /** Runs those of this turn, then late ones, then strangers; the rest is late. Returns how many are of this turn or strangers. */
  run(): number {
    this.begin();
    const asking = this.#asking;
    this.#asking = [];
    const { length: late } = this.#late;
    const { length: strangers } = this.#strangers;
    const { length } = this.#fresh;
    for (let left = length - this.#runSome(this.#fresh, length); left > 0; left--)
      this.#late.push(this.#fresh.shift() as Writing);
    for (const tell of asking) this.#wishes.push({ late: this.#late.joined, strangers: this.#strangers.joined, tell });
    this.#areStrangersFirst = !this.#areStrangersFirst;
    const began = this.#watch.now();
    if (this.#areStrangersFirst) this.#runSome(this.#strangers, strangers);
    else this.#runSome(this.#late, late);
    const spentMs = Math.abs(this.#watch.now() - began);
    if (this.#areStrangersFirst) this.#runSome(this.#late, late, spentMs);
    else this.#runSome(this.#strangers, strangers, spentMs);
    for (let wish = this.#wishes.peek(); wish !== undefined && this.#isFulfilled(wish); wish = this.#wishes.peek())
      this.#wishes.shift()?.tell();
    return length + strangers;
  }

  #isFulfilled({ late, strangers }: Wish): boolean {
    return this.#late.ran >= late && this.#strangers.ran >= strangers;
  }

  /** Runs at most so many, if the time is not spent. Returns how many it ran. */
  #runSome(writers: Pick<Fifo<Writing>, 'shift'>, most: number, spentMs = 0): number {
    const began = this.#watch.now();
    let now = began;
    let count = 0;
    // The clock may step back.
    while (count < most && spentMs + Math.abs(now - began) < MS_PER_TURN) {
      writers.shift()?.onWrite(now);
      if (++count % WRITERS_PER_LOOK === 0) now = this.#watch.now();
    }
    return count;
  }
}
