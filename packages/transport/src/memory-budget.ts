/** One bound for all memory that a process holds for its peers: docs/adr/0026-one-budget-of-memory.md. Knows no protocol. */
import { systemClock } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';

/** How much of the budget is in use: `tight` from 80 % until it falls below 70 %, `full` from 100 % until it falls below 90 %. */
export type MemoryLevel = 'ok' | 'tight' | 'full';

/** A part of the process that holds memory for peers. */
export interface MemoryOwner {
  /** Bytes it holds now, estimated. Read often, so the cost must not grow with the number of peers. */
  readonly heldBytes: number;
  /**
   * Drops about this many bytes held for peers that do not read or do not finish what they send, largest holders first; returns how many it
   * dropped. While memory is `tight`, only peers that stand still lose anything.
   */
  relieve?(bytes: number, level: 'tight' | 'full'): number;
  /** The level has changed. */
  onLevel?(level: MemoryLevel): void;
  /** There is little traffic: spare memory can be freed. */
  onRest?(): void;
}

/** The current state of a budget, and its totals. */
export interface MemoryStats {
  readonly maxBytes: number;
  readonly heldBytes: number;
  readonly level: MemoryLevel;
  /** How often it became `tight`, and how often `full`. */
  readonly tight: number;
  readonly full: number;
  /** Bytes that slow peers lost to free memory. */
  readonly relievedBytes: number;
}

const TIGHT = 0.8;
const LOOSE = 0.7;
const LESS_THAN_FULL = 0.9;
/** The owners are asked again after this fraction of the budget has passed through. */
const STEP = 1 / 64;
/** While memory is short, the owners are asked at least this often. Cut connections take this long to disappear. */
const LOOK_MS = 50;

/**
 * Sums what its owners hold each time a fraction of the budget has passed through the process: each message costs one addition, idle peers cost
 * nothing. From 80 % on, engines reject messages that would have to wait, and sockets cut peers that do not read; at 100 % nothing is read.
 */
export class MemoryBudget {
  #maxBytes: number;
  readonly #clock: Clock;
  readonly #owners = new Set<MemoryOwner>();
  readonly #listeners = new Set<(level: MemoryLevel) => void>();
  #stepBytes: number;
  #moved = 0;
  /** As of the last check. */
  #movedBefore = 0;
  #level: MemoryLevel = 'ok';
  #tight = 0;
  #full = 0;
  #relieved = 0;
  #relievedAt = -Infinity;
  #timer: Timer | undefined;

  /** `maxBytes`: an integer, at least 1. */
  constructor(maxBytes: number, clock: Clock = systemClock) {
    this.#maxBytes = checked(maxBytes);
    this.#stepBytes = Math.ceil(maxBytes * STEP);
    this.#clock = clock;
  }

  /** The whole budget, in bytes. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  /**
   * Changes the bound: an integer number of bytes, at least 1. Nothing is dropped at once: with a lower bound, memory is short until enough is
   * freed. The share that sockets reserve for connections keeps following the bound they were created with.
   */
  resize(maxBytes: number): void {
    this.#maxBytes = checked(maxBytes);
    this.#stepBytes = Math.ceil(maxBytes * STEP);
    this.look();
  }

  /** The level as of the last check. */
  get level(): MemoryLevel {
    return this.#level;
  }

  /** Bytes held now by all owners. */
  get heldBytes(): number {
    let bytes = 0;
    for (const owner of this.#owners) bytes += owner.heldBytes;
    return bytes;
  }

  /** Bytes received or queued for sending so far. */
  get movedBytes(): number {
    return this.#movedBefore + this.#moved;
  }

  /** Current sizes and totals so far. */
  stats(): MemoryStats {
    const { maxBytes, heldBytes, level } = this;
    return { maxBytes, heldBytes, level, tight: this.#tight, full: this.#full, relievedBytes: this.#relieved };
  }

  /** Adds an owner, and reports the level to it unless it is `ok`. Returns a function that removes it. */
  add(owner: MemoryOwner): () => void {
    this.#owners.add(owner);
    if (this.#level !== 'ok') owner.onLevel?.(this.#level);
    return () => {
      this.#owners.delete(owner);
    };
  }

  /** Calls `listener` after each change of the level until the returned function is called. */
  onChange(listener: (level: MemoryLevel) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Reports that this many bytes were received or are waiting to be sent. */
  moved(bytes: number): void {
    this.#moved += bytes;
    if (this.#moved >= this.#stepBytes) this.look();
  }

  /** Asks all owners and acts on the sum. */
  look(): void {
    this.#movedBefore += this.#moved;
    this.#moved = 0;
    const held = this.heldBytes;
    const level = this.#levelOf(held);
    this.#enter(level);
    if (level === 'ok') return;
    this.#enter(this.#levelOf(held - this.#relieve(held, level)));
    if (this.level !== 'ok') this.#arm();
  }

  /** Makes its owners free spare memory. */
  rest(): void {
    for (const owner of this.#owners) owner.onRest?.();
  }

  #levelOf(held: number): MemoryLevel {
    const part = held / this.maxBytes;
    if (part >= (this.#level === 'full' ? LESS_THAN_FULL : 1)) return 'full';
    return part >= (this.#level === 'ok' ? TIGHT : LOOSE) ? 'tight' : 'ok';
  }

  /** Not again at once: cut connections still count until they are gone. */
  #relieve(held: number, level: 'tight' | 'full'): number {
    const now = this.#clock.now();
    if (now - this.#relievedAt < LOOK_MS) return 0;
    let excess = held - (level === 'full' ? TIGHT : LOOSE) * this.maxBytes;
    let relieved = 0;
    for (const owner of [...this.#owners].sort((one, other) => other.heldBytes - one.heldBytes)) {
      if (excess <= 0) break;
      const bytes = owner.relieve?.(excess, level) ?? 0;
      excess -= bytes;
      relieved += bytes;
    }
    // What is gone at once may be followed by more; what is not would be asked for twice.
    if (this.heldBytes > held - relieved) this.#relievedAt = now;
    this.#relieved += relieved;
    return relieved;
  }

  #enter(level: MemoryLevel): void {
    const before = this.#level;
    if (level === before) return;
    this.#level = level;
    if (level === 'full') this.#full++;
    else if (level === 'tight' && before === 'ok') this.#tight++;
    for (const owner of [...this.#owners]) owner.onLevel?.(level);
    for (const listener of [...this.#listeners]) listener(level);
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = this.#clock.at(this.#clock.now() + LOOK_MS, () => {
      this.#timer = undefined;
      this.look();
    });
  }
}

function checked(maxBytes: number): number {
  if (Number.isSafeInteger(maxBytes) && maxBytes >= 1) return maxBytes;
  throw new RangeError(`memory budget of ${maxBytes} bytes: must be a whole number from 1`);
}
