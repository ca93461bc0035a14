/** The turns of the event loop: what is done once at the end of each, and how long one may last. */
import { Fifo } from '@proj/transport/adapter';
import type { Loop, Poller } from './fast.js';

/** Something that writes at the end of a turn. */
export interface Writing {
  /** Write what this turn brought about. */
  onWrite(now: number): void;
}

/** Something that reads on in a later turn. */
export interface Reading {
  /** Deliver what was held back. */
  onRead(now: number): void;
}

/** A queue of those that wait to read on. */
export interface ReadQueue {
  /** Calls `onRead` after those of its kind that asked before. Must not be called again until then. */
  readLater(reader: Reading, isSparse: boolean): void;
}

/** Something that writes for others, after all of them have. */
export interface Flushing {
  /** Write what this turn brought about. */
  onFlush(): void;
}

/** A reader that did less than its share within this time goes before those that keep us busy. Milliseconds. */
export const SPARSE_MS = 100;

/** Node's event loop. Its clock is not that of the options, which may stand still. */
export const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  next: (callback) => void setImmediate(callback),
};

/** One in so many that read on is of those that keep us busy, at least. */
const BUSY_SHARE = 4;
/** How long a turn delivers messages; then timers and other sockets are next. */
const MS_PER_TURN = 2;
/** Most readers in a turn: each may have a long read before the clock is read again. */
const READS_PER_TURN = 4;

/**
 * Lets everybody write at the end of a turn, after all that came in during it: one write per peer instead of many. Then lets those read on whose
 * messages were too many for one turn. Nothing else in the package reaches for the event loop.
 */
export class Turns implements ReadQueue {
  readonly #now: () => number;
  readonly #poller: Poller | undefined;
  #writers: Writing[] = [];
  #flushers: Flushing[] = [];
  /** Readers that keep us busy, and those that rarely want something, which go first. */
  readonly #busy = new Fifo<Reading>();
  readonly #sparse = new Fifo<Reading>();
  #served = 0;
  #number = 0;
  #armed = false;
  #endsAt = Infinity;
  /** Connections that were heard in this turn, or more of its messages. */
  #came = 0;

  /** `now` is the clock of all times here. */
  constructor(now: () => number, poller?: Poller) {
    this.#now = now;
    this.#poller = poller;
  }

  /** A socket of the transport binds: {@link Poller.serve}. */
  serve(): void {
    this.#poller?.serve();
  }

  /** Calls `onWrite` at the end of this turn. Must not be called twice for the same turn. */
  writeLater(writer: Writing): void {
    this.#writers.push(writer);
    this.#arm();
  }

  /** Calls `onFlush` at the end of this turn, after every `onWrite`. Must not be called twice for the same turn. */
  flushLater(flushing: Flushing): void {
    this.#flushers.push(flushing);
    this.#arm();
  }

  /** Resolves when this turn's output is written. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.flushLater({ onFlush: resolve });
    });
  }

  /** Counts the turns. */
  get number(): number {
    return this.#number;
  }

  /** True while readers wait. */
  get isContended(): boolean {
    return this.#busy.length + this.#sparse.length > 0;
  }

  readLater(reader: Reading, isSparse: boolean): void {
    (isSparse ? this.#sparse : this.#busy).push(reader);
    this.#arm();
  }

  /** True when this turn has delivered messages for long enough. Its first call starts the clock. */
  isOver(now: number): boolean {
    if (this.#came++ === 0) this.#poller?.onTurn();
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
    if (this.#came > 0) this.#poller?.onTurnEnd(came);
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

  /** Those that keep us busy are served too, however many the others are. */
  #next(): Reading | undefined {
    const [first, second] = ++this.#served % BUSY_SHARE === 0 ? [this.#busy, this.#sparse] : [this.#sparse, this.#busy];
    return first.shift() ?? second.shift();
  }
}

/** Members of a group that read on in its turn. */
const MEMBERS_PER_READ = 16;
/** A group keeps us busy when so many members have read on within {@link SPARSE_MS}. */
const BUSY_MEMBERS = 64;

/** Readers that share one place in the queue, such as the lanes of one connection: a peer gains nothing by opening many. */
export class ReadGroup implements ReadQueue, Reading {
  readonly #turns: ReadQueue;
  readonly #members = new Fifo<Reading>();
  #isWaiting = false;
  /** Members that have read on since this time. */
  #served = 0;
  #since = -Infinity;

  constructor(turns: ReadQueue) {
    this.#turns = turns;
  }

  readLater(member: Reading, isSparse: boolean): void {
    this.#members.push(member);
    if (!this.#isWaiting) this.#wait(isSparse);
  }

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
