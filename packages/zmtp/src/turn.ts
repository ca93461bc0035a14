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

/** Where somebody waits for its turn to read on. */
export interface ReadQueue {
  /** Calls `onRead` when it is its turn, behind those of its kind that asked before. Not to be asked again until then. */
  readLater(turning: Deferred, isSparse: boolean): void;
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
/** So many at most read on in a turn: each may have a long read before the clock is looked at again. */
const READS_PER_TURN = 4;

/**
 * Lets everybody write at the end of a turn, after all that came in during it: one write per peer instead of many. Lets those
 * read on, one after the other, whose messages were too many for one turn. The only place of the package that reaches for the
 * event loop.
 */
export class Turns implements ReadQueue {
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

  /** See {@link ReadQueue}. */
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
    const waiting = this.#busy.length + this.#sparse.length;
    for (let read = 0; read < waiting; read++) {
      const now = this.#now();
      if (read === READS_PER_TURN || this.isOver(now)) {
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

/** So many of a group read on in its turn. */
const MEMBERS_PER_READ = 16;
/** A group of which so many have read on within {@link SPARSE_MS} keeps us busy. */
const BUSY_MEMBERS = 64;

/** Those that share one place in the queue, such as the lanes of one connection: a peer gains nothing by opening many. */
export class ReadGroup implements ReadQueue, Deferred {
  readonly #turns: ReadQueue;
  readonly #members = new Fifo<Deferred>();
  #isWaiting = false;
  /** How many have read on since this time. */
  #served = 0;
  #since = -Infinity;

  /** The queue in which the group has its place. */
  constructor(turns: ReadQueue) {
    this.#turns = turns;
  }

  /** See {@link ReadQueue}. */
  readLater(member: Deferred, isSparse: boolean): void {
    this.#members.push(member);
    if (!this.#isWaiting) this.#wait(isSparse);
  }

  /** See {@link Deferred}: the group has nothing to write. */
  onWrite(): void {}

  /** See {@link Deferred}. */
  onRead(now: number): void {
    if (now - this.#since > SPARSE_MS) {
      this.#since = now;
      this.#served = 0;
    }
    const served = Math.min(MEMBERS_PER_READ, this.#members.length);
    this.#served += served;
    for (let left = served; left > 0; left--) this.#members.shift()?.onRead(now);
    this.#isWaiting = false;
    if (this.#members.length > 0) this.#wait(true);
  }

  #wait(isSparse: boolean): void {
    this.#isWaiting = true;
    this.#turns.readLater(this, isSparse && this.#served < BUSY_MEMBERS);
  }
}
