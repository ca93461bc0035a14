/** The turns of the event loop: what is done once at the end of each, and how long one may last. */
import { Fifo } from '@proj/transport/adapter';
import type { Loop, Poller } from './poller.js';

/** Something that writes at the end of a turn, and reads on in a later one. */
export interface Deferred {
  /** Write what has come up. */
  onWrite(now: number): void;
  /** Deliver what was held back. */
  onRead(now: number): void;
}

/** Something that writes for others, after all of them have. */
export interface Flushing {
  /** Write what has come up in this turn. */
  onFlush(): void;
}

/** Who has done less than its share within this time has its turn before those that keep us busy. Milliseconds. */
export const SPARSE_MS = 100;

/** Node's. Its clock is not the one of the options: that may stand still. */
export const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  next: (callback) => void setImmediate(callback),
};

/** Of so many that read on, at least one is of those that keep us busy. */
const BUSY_SHARE = 4;
/** So long messages are delivered within a turn; then timers and other sockets are next. */
const MS_PER_TURN = 2;

/**
 * Lets everybody write at the end of a turn, after all that came in during it: one write per peer instead of many. Lets those
 * read on, one after the other, whose messages were too many for one turn. The only place of the package that reaches for the
 * event loop.
 */
export class Turns {
  readonly #now: () => number;
  readonly #poller: Poller;
  #writers: Deferred[] = [];
  #flushers: Flushing[] = [];
  /** Those that keep us busy, and those that rarely want something: these go first. */
  readonly #busy = new Fifo<Deferred>();
  readonly #sparse = new Fifo<Deferred>();
  #served = 0;
  #number = 0;
  #armed = false;
  #endsAt = Infinity;
  /** What came in this turn: messages, at least of different connections. */
  #came = 0;

  /** The clock that all times here are of; and who looks for what comes next. */
  constructor(now: () => number, poller: Poller) {
    this.#now = now;
    this.#poller = poller;
  }

  /** Others connect to us: {@link Poller.serve}. */
  serve(): void {
    this.#poller.serve();
  }

  /** Calls `onWrite` at the end of this turn. Not to be asked twice for the same turn. */
  writeLater(turning: Deferred): void {
    this.#writers.push(turning);
    this.#arm();
  }

  /** Calls `onFlush` at the end of this turn, after every `onWrite`. Not to be asked twice for the same turn. */
  flushLater(flushing: Flushing): void {
    this.#flushers.push(flushing);
    this.#arm();
  }

  /** Resolves when all that came up in this turn has been written. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.flushLater({ onFlush: resolve });
    });
  }

  /** Counts the turns. */
  get number(): number {
    return this.#number;
  }

  /** True while somebody waits to read on. */
  get isContended(): boolean {
    return this.#busy.length + this.#sparse.length > 0;
  }

  /** Calls `onRead` when it is its turn, behind those of its kind that asked before. Not to be asked again until then. */
  readLater(turning: Deferred, isSparse: boolean): void {
    (isSparse ? this.#sparse : this.#busy).push(turning);
    this.#arm();
  }

  /** True when messages have been delivered for long enough in this turn. The first question begins the count. */
  isOver(now: number): boolean {
    if (this.#came++ === 0) this.#poller.onTurn();
    if (this.#endsAt !== Infinity) return now >= this.#endsAt;
    this.#endsAt = now + MS_PER_TURN;
    this.#arm();
    return false;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    this.#armed = false;
    this.#endsAt = Infinity;
    this.#number++;
    const writers = this.#writers;
    this.#writers = [];
    const now = this.#now();
    for (const writer of writers) writer.onWrite(now);
    const flushers = this.#flushers;
    this.#flushers = [];
    for (const flusher of flushers) flusher.onFlush();
    const came = Math.max(this.#came, writers.length);
    if (this.#came > 0) this.#poller.onTurnEnd(came);
    this.#came = 0;
    this.#read();
  };

  #read(): void {
    for (let left = this.#busy.length + this.#sparse.length; left > 0; left--) {
      const now = this.#now();
      if (this.isOver(now)) {
        this.#arm();
        return;
      }
      this.#next()?.onRead(now);
    }
  }

  /** However many there are that rarely want something, those that keep us busy are served too. */
  #next(): Deferred | undefined {
    const [first, second] = ++this.#served % BUSY_SHARE === 0 ? [this.#busy, this.#sparse] : [this.#sparse, this.#busy];
    return first.shift() ?? second.shift();
  }
}
