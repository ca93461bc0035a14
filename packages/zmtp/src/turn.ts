/** Turns of the event loop: what runs once at the end of each, and how long each may last. */
import { Fifo } from '@proj/transport/adapter';
import type { Loop, Poller } from './fast.js';
import { HeavyReaders } from './heavy-readers.js';
import type { Watch } from './watch.js';
import { Writers } from './writers.js';
import type { Writing } from './writers.js';

/** Something that resumes reading in a later turn. */
export interface Reading {
  /** Nothing more comes from its peer, so that what it does is over when `onRead` returns. */
  readonly isEnded?: boolean;
  /** Delivers what was held back. */
  onRead(now: number): void;
}

/**
 * How a reader waits: `regular` with little to read; `rare` the same, and with hardly anything lately; `stranger` the same, but hardly known yet, or at
 * its end; `busy` with much; `wide` the same, if it makes many others write. A crowd that connects or leaves, a thousand readers with little each, would
 * otherwise go before all regulars.
 */
export type ReadRank = 'rare' | 'regular' | 'stranger' | 'busy' | 'wide';

/** A queue of readers waiting to resume. */
export interface ReadQueue {
  /** Calls `onRead` after earlier requests of the same rank. Do not call it again before then. `heavy`: {@link HeavyReaders}. */
  readLater(reader: Reading, rank: ReadRank | 'heavy'): void;
}

/** Something that has output to write. */
export interface Waking {
  /** Asks for a write at the end of the turn, unless there is nothing to write any more. */
  wake(): void;
}

/** Something that writes for others, after all of them. */
export interface Flushing {
  /** Writes the output of this turn. */
  onFlush(): void;
}

/** Something that encrypts in slices. */
export interface Encrypting {
  /** Encrypts a slice, within what is left of the turn. To go on later, it asks again. */
  onSeal(left: CipherBytes): void;
}

/** Bytes that may still be encrypted, or decrypted, in a turn. May fall below zero. */
export interface CipherBytes {
  left: number;
}

/** A reader that did less than its share within this time goes before busy ones. Milliseconds. */
const SPARSE_MS = 100;

/** True if what a reader did since then says nothing any more: it was long ago, or the clock has stepped back ({@link Watch.now}). */
export function isPast(since: number, now: number): boolean {
  return Math.abs(now - since) > SPARSE_MS;
}

/** Node's event loop. Its clock differs from the clock in the options, which may be a manual one. */
export const EVENT_LOOP: Loop = {
  now: () => performance.now(),
  next: (callback) => void setImmediate(callback),
};

/** How long a turn delivers messages before timers and other sockets are served. Milliseconds. */
const MS_PER_TURN = 1;
/**
 * Bytes encrypted per turn over all connections, and as many decrypted: in all below 5 ms, even without WebAssembly
 * (docs/adr/0025-boxes-in-webassembly.md).
 */
export const CIPHER_BYTES = 2 ** 18;
/** Bytes decrypted per read, and per read once enough was decrypted in the turn. */
const OPEN_BYTES = 2 ** 16;
const OPEN_LAST_BYTES = 2 ** 13;
/** Maximum readers per turn, besides those at their end: each may do a long read before the clock is read again. */
const READS_PER_TURN = 4;

/** Which rank is asked first, again and again. What the ranks after it have is next if it has nothing. */
const RARE_FIRST = ['rare', 'regular', 'stranger', 'busy', 'wide'] as const;
const REGULAR_FIRST = ['regular', 'rare', 'stranger', 'busy', 'wide'] as const;
const STRANGER_FIRST = ['stranger', 'rare', 'regular', 'busy', 'wide'] as const;
const RANKS: readonly (readonly ReadRank[])[] = [
  RARE_FIRST,
  STRANGER_FIRST,
  REGULAR_FIRST,
  ['busy', 'wide', 'rare', 'regular', 'stranger'],
  RARE_FIRST,
  STRANGER_FIRST,
  REGULAR_FIRST,
  ['wide', 'busy', 'rare', 'regular', 'stranger'],
];

/** First in, first out in each rank. Of four, at least one is a rare one, one a regular one, one a stranger, and one a busy or wide one, if there are any. */
class Ranks<Item> {
  readonly #waiting: Readonly<Record<ReadRank, Fifo<Item>>> = {
    rare: new Fifo(),
    regular: new Fifo(),
    stranger: new Fifo(),
    busy: new Fifo(),
    wide: new Fifo(),
  };
  #served = 0;

  get length(): number {
    const { rare, regular, stranger, busy, wide } = this.#waiting;
    return rare.length + regular.length + stranger.length + busy.length + wide.length;
  }

  /** The busy ones, wide or not. */
  get busy(): number {
    return this.#waiting.busy.length + this.#waiting.wide.length;
  }

  push(item: Item, rank: ReadRank): void {
    this.#waiting[rank].push(item);
  }

  /** The rank of the next, wide or not. */
  next(mayBeWide = true): ReadRank | undefined {
    return RANKS[this.#served % RANKS.length]?.find(
      (rank) => this.#waiting[rank].length > 0 && (mayBeWide || rank !== 'wide'),
    );
  }

  /** The first of a rank, of {@link next}. */
  shift(rank: ReadRank): Item | undefined {
    this.#served++;
    return this.#waiting[rank].shift();
  }
}

/**
 * Runs the writers at the end of a turn: one write per peer, instead of many. Those that are too many for one turn go on in the next ones, after
 * its own. Resumes readers that had too many messages for one turn: the occasional, regulars and strangers, before the writers, and the busy after
 * them, the wide once what they caused last is written. The only user of the event loop in the package.
 */
export class Turns implements ReadQueue {
  readonly #watch: Watch;
  readonly #poller: Poller | undefined;
  readonly #writers: Writers;
  #flushers: Flushing[] = [];
  /** To be woken in the turn after the next run, and in the next run. */
  #newcomers: Waking[] = [];
  #toWake: Waking[] = [];
  readonly #readers = new Ranks<Reading>();
  readonly #heavy: HeavyReaders;
  /** In this turn: those that have resumed and are not at their end, and those that may still resume. */
  #reads = 0;
  #toRead = 0;
  /** What wide readers caused is written, and a turn has read from one. They resume only once it is: peers' queues would grow while output is late. */
  #isCaughtUp = true;
  #hasReadWide = false;
  /** Long messages are busy after their first slice. */
  readonly #sealers = new Ranks<Encrypting>();
  readonly #sealing: CipherBytes = { left: CIPHER_BYTES };
  #opened = 0;
  #number = 0;
  #armed = false;
  #beganAt = Infinity;
  /** Connections that received bytes or continued reading in this turn. */
  #came = 0;

  /** `watch` is the clock for all times here. */
  constructor(watch: Watch, poller?: Poller) {
    this.#watch = watch;
    this.#poller = poller;
    this.#writers = new Writers(watch);
    this.#heavy = new HeavyReaders(watch, () => this.#arm());
  }

  /** A socket of the transport binds: {@link Poller.serve}. */
  serve(): void {
    this.#poller?.serve();
  }

  /** Calls `onWrite` at the end of this turn, or a later one if there are too many. Do not call it again before then. */
  writeLater(writer: Writing): void {
    this.#writers.push(writer);
    this.#arm();
  }

  /** Wakes it in the next turn, when what its peer has already sent is read: noise needs no answer. */
  wakeNext(newcomer: Waking): void {
    this.#newcomers.push(newcomer);
    this.#arm();
  }

  /** Calls `onFlush` at the end of this turn, after the writers of this turn. Call it once per turn. */
  flushLater(flushing: Flushing): void {
    this.#flushers.push(flushing);
    this.#arm();
  }

  /** Resolves when the output so far is written. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.#writers.onceRun(resolve);
      this.#arm();
    });
  }

  /** The number of the current turn. */
  get number(): number {
    return this.#number;
  }

  /** How often a writer was added so far. */
  get writes(): number {
    return this.#writers.added;
  }

  /** {@link Writers.begin}; returns the writers so far. */
  beginWrites(): number {
    this.#writers.begin();
    return this.#writers.added;
  }

  /** A message of a reader that is not heavy has come. */
  heard(now: number): void {
    this.#heavy.othersAt = now;
  }

  /** True while readers wait. */
  get isContended(): boolean {
    return this.#readers.length > 0;
  }

  /** What one more reader has of {@link SPARSE_MS} if all busy ones that wait have as much. Milliseconds. */
  get equalShareMs(): number {
    return SPARSE_MS / (this.#readers.busy + 1);
  }

  /** Calls `onSeal` after the writers of a turn in which something may be encrypted, this one if possible. `isFirst`: its first slice. */
  sealLater(encrypting: Encrypting, isFirst: boolean): void {
    this.#sealers.push(encrypting, isFirst ? 'regular' : 'busy');
    this.#arm();
  }

  /** The most that the next read may decrypt, so that many connections are little each. */
  get openBytes(): number {
    return this.#opened < CIPHER_BYTES ? OPEN_BYTES : OPEN_LAST_BYTES;
  }

  readLater(reader: Reading, rank: ReadRank | 'heavy'): void {
    if (rank === 'heavy') {
      this.#heavy.push(reader);
      return;
    }
    this.#readers.push(reader, rank);
    this.#arm();
  }

  /**
   * True when this turn has delivered messages for long enough. The first call starts the clock. If the clock has stepped back since, as a late
   * timer makes it do ({@link Watch.now}), the turn is over. `sealed`: bytes that are to be decrypted.
   */
  isOver(now = this.#watch.now(), sealed = 0): boolean {
    if (this.#came++ === 0) this.#poller?.onTurn();
    this.#opened += sealed;
    if (this.#beganAt !== Infinity)
      return Math.abs(now - this.#beganAt) >= MS_PER_TURN || (sealed > 0 && this.#opened >= CIPHER_BYTES);
    this.#beganAt = now;
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
    this.#beganAt = Infinity;
    this.#number++;
    this.#reads = 0;
    this.#toRead = this.#readers.length;
    this.#wake();
    // What follows from occasional readers is written before busy readers are heard.
    this.#read('occasional');
    const writers = this.#writers.run();
    this.#seal();
    const flushers = this.#flushers;
    this.#flushers = [];
    for (const flusher of flushers) flusher.onFlush();
    if (this.#writers.areLate) this.#arm();
    const came = Math.max(this.#came, writers);
    if (this.#came > 0) this.#poller?.onTurnEnd(came);
    this.#came = 0;
    this.#read('all');
    if (this.#heavy.serve()) this.#writers.onceRun(this.#onHeavyWritten);
    if (this.#hasReadWide) {
      this.#hasReadWide = this.#isCaughtUp = false;
      this.#writers.onceRun(this.#onCaughtUp);
    }
  };

  readonly #onCaughtUp = (): void => {
    this.#isCaughtUp = true;
  };

  readonly #onHeavyWritten = (): void => {
    this.flushLater(this.#heavy);
  };

  #wake(): void {
    const toWake = this.#toWake;
    this.#toWake = this.#newcomers;
    this.#newcomers = [];
    for (const one of toWake) one.wake();
    if (this.#toWake.length > 0) this.#arm();
  }

  #seal(): void {
    this.#opened = 0;
    this.#sealing.left = CIPHER_BYTES;
    while (this.#sealers.length > 0) {
      if (this.#sealing.left <= 0) {
        this.#arm();
        return;
      }
      const next = this.#sealers.next();
      if (next !== undefined) this.#sealers.shift(next)?.onSeal(this.#sealing);
    }
  }

  #read(which: 'occasional' | 'all'): void {
    const mayBeWide = !this.#writers.areLate || this.#isCaughtUp;
    for (; this.#toRead > 0; this.#toRead--) {
      const next = this.#readers.next(mayBeWide);
      const isBusy = next === 'busy' || next === 'wide';
      if (next === undefined || (isBusy && which === 'occasional')) return;
      const now = this.#watch.now();
      if (this.#reads === READS_PER_TURN || this.isOver(now)) {
        this.#arm();
        return;
      }
      const reader = this.#readers.shift(next);
      if (next === 'wide') this.#hasReadWide = true;
      if (reader?.isEnded !== true) this.#reads++;
      reader?.onRead(now);
    }
  }
}

/** Members of a group that resume in a turn of their place, at most. */
const MEMBERS_PER_READ = 16;
/** A group counts as busy when its members took this long within {@link SPARSE_MS}: the other end may be one process with all its requests. Milliseconds. */
const BUSY_GROUP_MS = 10;

/** Readers that share one place in the queue for each rank, such as the lanes of a connection. A peer gains no more by opening many. */
export class ReadGroup implements ReadQueue {
  readonly #turns: Turns;
  readonly #watch: Watch;
  readonly #places: Partial<Record<ReadRank, Place>> = {};
  /** How long its members took since this time. */
  #recentMs = 0;
  #since = -Infinity;

  constructor(turns: Turns, watch: Watch) {
    this.#turns = turns;
    this.#watch = watch;
  }

  readLater(member: Reading, rank: ReadRank | 'heavy'): void {
    if (rank === 'heavy') {
      this.#turns.readLater(member, rank);
      return;
    }
    const place = (this.#places[rank] ??= new Place(this, rank));
    place.members.push(member);
    if (!place.isWaiting) this.#wait(place);
  }

  /** The turn of a place has come. */
  read(place: Place, now: number): void {
    if (isPast(this.#since, now)) {
      this.#since = now;
      this.#recentMs = 0;
    }
    const { members } = place;
    let left = Math.min(MEMBERS_PER_READ, members.length);
    do members.shift()?.onRead(now);
    while (--left > 0 && !this.#turns.isOver());
    this.#recentMs += this.#watch.now() - now;
    place.isWaiting = false;
    if (members.length > 0) this.#wait(place);
  }

  #wait(place: Place): void {
    place.isWaiting = true;
    this.#turns.readLater(place, this.#recentMs < BUSY_GROUP_MS ? place.rank : 'busy');
  }
}

/** The members of a group that wait with the same rank. */
class Place implements Reading {
  readonly rank: ReadRank;
  readonly members = new Fifo<Reading>();
  isWaiting = false;
  readonly #group: ReadGroup;

  constructor(group: ReadGroup, rank: ReadRank) {
    this.#group = group;
    this.rank = rank;
  }

  onRead(now: number): void {
    this.#group.read(this, now);
  }
}
