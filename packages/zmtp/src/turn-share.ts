/** How much of a turn one connection may take before others are served: docs/protocols/zmtp.md, "One write per peer and turn". */
import { isPast } from './turn.js';
import type { Reading, ReadQueue, Turns } from './turn.js';
import type { Watch } from './watch.js';

/** Work after which the clock is read. A chunk may hold thousands of messages. A message or command is one unit. */
const WORK_PER_LOOK = 16;
/** If one unit takes longer, such as a question answered with a list, the clock is read after each. Milliseconds. */
const SLOW_MS = 1 / 16;
/**
 * A message that costs this much is heavy, and a reader whose heavy messages cost more than this together is heavy, too: {@link HeavyReaders}. Each counts
 * for no more than the latter, since one that asks for little may have one of them, with work for others that falls due, or garbage to collect.
 * Milliseconds.
 */
const HEAVY_MS = 1 / 2;
const HEAVY_SUM_MS = 3;
/** What a unit of work that is bytes may take before messages are charged for it, decryption included. Milliseconds. */
const BYTES_MS = 1 / 64;
/** So much other work makes up for a millisecond of them. */
const LIGHT_WORK_PER_MS = 32;
/** One that did so much work without being heavy is known to be light: for this many times as much, it may be the machine that was busy. */
const LIGHT_WORK = 256;
const DOUBT = 4;
/** What a write costs later, about. Milliseconds. A message may cause one for nothing. */
const WRITE_MS = 1 / 50;
/** A reader that makes so many peers write in one go is wide: a publisher, or a job for many workers. */
const WIDE_WRITES = 64;
/** The share of a turn while others wait, for an occasional reader and a busy one. */
const OCCASIONAL_WORK = 16;
const BUSY_WORK = 64;
/**
 * A reader with less work than this recently is not busy either if it took little time, however many are busy, or less than an equal share, of at most
 * so much: hundreds of polls are less than a few jobs. Milliseconds.
 */
const QUICK_WORK = 128;
const QUICK_MS = 1;
const QUICK_SHARE_MS = 20;
/** And one with less than this, in little time, is rare: it goes before those that ask all the time. */
const RARE_WORK = 32;

/** Turns with something to read until a connection is known. A handshake takes three or four. */
const STRANGE_TURNS = 16;

/** The share of one connection. */
export class TurnShare {
  readonly #turns: Turns;
  readonly #watch: Watch;
  readonly #queue: ReadQueue;
  readonly #reader: Reading;
  #isResting = false;
  /** The turn in which it read on. */
  #renewedIn = -1;
  /** Work since the clock was last read, and when that was. */
  #work = 0;
  #lookedAt = 0;
  /** The part of it that is not bytes: what those take says nothing about messages. And the part of that since its turn began: it may not have been measured before. */
  #units = 0;
  #freshUnits = 0;
  /** What the bytes that came last may have taken and nothing was charged for. */
  #bytesMs = 0;
  /** Work without anything slow, up to a limit: after as much again, or one unit, the clock is read. */
  #shortWork = 0;
  /** Work in the turn of this number. */
  #turn = 0;
  #turnsTaken = 0;
  #turnWork = 0;
  #workMax = OCCASIONAL_WORK;
  /** It waits with messages that it has. */
  #isBehind = false;
  /** Work since this time, and how long it took where that was measured. Milliseconds. Work until it is no longer behind counts. */
  #since = 0;
  #recentWork = 0;
  #recentMs = 0;
  /** It had nothing left at the end of a turn since then, and a message that cost much. */
  #hasIdled = false;
  #hasHeavy = false;
  /** What its heavy messages cost that nothing has made up for. */
  #heavyMs = 0;
  #isHeavy = false;
  /** Work since it was last found to be heavy. */
  #lightWork = 0;
  /** The last message cost much. */
  #wasHeavy = false;
  /** All writes so far when work began, and when the clock was last read. */
  #writes = 0;
  #writesAtLook = 0;
  #wasWide = false;
  #isWide = false;

  /** The queue in which the reader waits when its share is used up. */
  constructor(turns: Turns, watch: Watch, queue: ReadQueue, reader: Reading) {
    this.#turns = turns;
    this.#watch = watch;
    this.#queue = queue;
    this.#reader = reader;
  }

  /** True while the reader waits for its next turn and must deliver nothing. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Work begins, at this time, with something that has just come, whose bytes are this much work. */
  begin(now: number, bytesWork = 0): void {
    this.#isBehind = false;
    this.#bytesMs = BYTES_MS * bytesWork;
    this.#hasIdled ||= this.#turn !== this.#turns.number;
    this.#enter(now);
  }

  #enter(now: number): void {
    this.#freshUnits = 0;
    this.#lookedAt = now;
    this.#writes = this.#writesAtLook = this.#turns.beginWrites();
    if (this.#turn === this.#turns.number) return;
    this.#turn = this.#turns.number;
    this.#turnsTaken++;
    // What came while it waited counts for this turn.
    this.#turnWork = 0;
    this.#count(now);
  }

  /** As {@link spend}, for a message. */
  deliver(work: number): void {
    if (!this.#mustRest) this.#turns.heard(this.#lookedAt);
    this.spend(work);
  }

  /** Counts work; enough of it ends this turn's share. */
  spend(work: number): void {
    this.#units += work;
    this.#freshUnits += work;
    this.#work += work;
    if (this.#work >= this.#shortWork) this.#pause();
  }

  /** Bytes have been read, which took this much work besides what they held. Messages that came with many bytes are measured at once. */
  spendBytes(work: number): void {
    this.#work += work;
    if (work > 0 && (this.#freshUnits > 0 || this.#work >= this.#shortWork)) this.#pause();
  }

  /** What was held back is delivered, or some of it: however little it is, it is measured. */
  look(): void {
    if (this.#freshUnits > 0 && !this.#isResting) this.#look();
  }

  /** Measures work, and ends the share if it is used up. */
  #pause(): void {
    if (this.#isResting) return;
    const now = this.#look();
    if (this.#turns.writes - this.#writes > WIDE_WRITES) this.#isWide = this.#wasWide = true;
    const isOver = this.#turns.isOver(now);
    if (!isOver && !this.#mustRest && (this.#turnWork < this.#workMax || !this.#turns.isContended)) return;
    this.#rest(false);
    this.#isBehind = true;
  }

  /**
   * Ends this turn's share before something that has just come. A reader goes before busy ones if it did less than a small share recently or, with
   * nothing left, in its last turn: so does a worker that answers one request after another, however fast.
   */
  rest(): void {
    this.#isBehind = false;
    this.#rest(this.#turnWork + this.#work < OCCASIONAL_WORK);
  }

  /** The reader's turn has come. */
  renew(now: number): void {
    this.#enter(now);
    this.#isResting = false;
    this.#renewedIn = this.#turns.number;
  }

  #rest(didLittle: boolean): void {
    if (this.#isResting) return;
    this.#isResting = true;
    const quickMs = Math.max(QUICK_MS, Math.min(this.#turns.equalShareMs, QUICK_SHARE_MS));
    const isQuick = this.#recentWork < QUICK_WORK && this.#recentMs < quickMs;
    const isOccasional = this.#recentWork < OCCASIONAL_WORK || isPast(this.#since, this.#watch.now());
    const isSparse = didLittle || isQuick || (isOccasional && this.#renewedIn !== this.#turns.number);
    this.#workMax = isSparse ? OCCASIONAL_WORK : BUSY_WORK;
    const isStrange = this.#reader.isEnded === true || this.#turnsTaken < STRANGE_TURNS;
    const isRare = this.#recentWork < RARE_WORK && this.#recentMs < QUICK_MS;
    const sparse = isStrange ? 'stranger' : isRare ? 'rare' : 'regular';
    const rank = isSparse ? sparse : this.#isWide ? 'wide' : 'busy';
    this.#queue.readLater(this.#reader, this.#mustRest ? 'heavy' : rank);
  }

  /** The next message will cost much, by all that is known. */
  get #mustRest(): boolean {
    return this.#isHeavy && this.#wasHeavy;
  }

  /** Reads the clock. */
  #look(): number {
    const now = this.#watch.now();
    const tookMs = now - this.#lookedAt;
    const { writes } = this.#turns;
    // More is a heavy message, or the process had to wait for a core: the first time it gets the benefit of the doubt.
    const countedMs = this.#hasHeavy ? tookMs : Math.min(tookMs, HEAVY_MS * this.#work);
    if (this.#freshUnits > 0) this.#judge(tookMs + Math.max(0, writes - this.#writesAtLook - this.#work) * WRITE_MS);
    this.#writesAtLook = writes;
    this.#lookedAt = now;
    this.#count(now);
    this.#recentMs += countedMs;
    return now;
  }

  /** What its messages since the last look cost. */
  #judge(fullMs: number): void {
    const costMs = Math.max(0, fullMs - this.#bytesMs);
    this.#bytesMs = 0;
    // One with many frames is several units.
    const isOne = this.#shortWork <= 1 || this.#freshUnits === 1;
    const isSlow = costMs > SLOW_MS * this.#freshUnits;
    this.#shortWork = isSlow ? 0 : Math.min(this.#shortWork + this.#freshUnits, WORK_PER_LOOK);
    this.#wasHeavy = isOne && costMs >= HEAVY_MS;
    if (!this.#wasHeavy) return;
    this.#hasHeavy = true;
    if (!this.#isHeavy) {
      this.#heavyMs += Math.min(costMs, HEAVY_SUM_MS);
      this.#isHeavy = this.#heavyMs > HEAVY_SUM_MS * (this.#lightWork >= LIGHT_WORK ? DOUBT : 1);
    }
    if (this.#isHeavy) this.#lightWork = 0;
  }

  #count(now: number): void {
    if (isPast(this.#since, now)) {
      this.#since = now;
      this.#isHeavy &&= this.#hasHeavy;
      // However seldom it is heard while it waits all the time.
      if (this.#hasIdled) this.#heavyMs = 0;
      this.#hasHeavy = this.#hasIdled = false;
      this.#isWide &&= this.#wasWide;
      this.#wasWide = false;
      if (!this.#isBehind) this.#recentWork = this.#recentMs = 0;
    }
    this.#turnWork += this.#work;
    this.#recentWork += this.#work;
    this.#lightWork += this.#units;
    this.#heavyMs = Math.max(0, this.#heavyMs - this.#units / LIGHT_WORK_PER_MS);
    this.#work = this.#units = this.#freshUnits = 0;
  }
}
