/** One bound for all that peers make a process hold: docs/adr/0026-one-budget-of-memory.md. No protocol. */
import { systemClock } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';

/**
 * How much of the budget is held: `tight` from 80 % on and until it is below 70 %, `full` from all of it on and until it is below 90 %.
 */
export type MemoryLevel = 'ok' | 'tight' | 'full';

/** Somebody who holds memory for peers. */
export interface MemoryOwner {
  /** What it holds now, in bytes, by estimate. Asked often: it costs the same however many peers there are. */
  readonly heldBytes: number;
  /**
   * Gives up about so many bytes of what it holds for peers that do not take it, of those that hold most first, and returns how many it
   * gave up. While memory is `tight`, only of those that stand still.
   */
  relieve?(bytes: number, level: 'tight' | 'full'): number;
  /** The level has changed. */
  onLevel?(level: MemoryLevel): void;
  /** Little comes and goes any more: what lies ready for more can be given back. */
  onRest?(): void;
}

/** A budget at this moment, and its totals. */
export interface MemoryStats {
  readonly maxBytes: number;
  readonly heldBytes: number;
  readonly level: MemoryLevel;
  /** How often it became `tight`, and how often `full`. */
  readonly tight: number;
  readonly full: number;
  /** What slow peers have lost to make room. */
  readonly relievedBytes: number;
}

const TIGHT = 0.8;
const LOOSE = 0.7;
const LESS_THAN_FULL = 0.9;
/** It is looked again after such a part of the budget has come or is to go out. */
const STEP = 1 / 64;
/** While memory is short it is looked at least so often; and it takes as long until a connection that was cut is gone. */
const LOOK_MS = 50;

/**
 * Sums what its owners hold, whenever a part of the budget has moved through the process: messages cost an addition each, idle peers
 * nothing. At 80 % owners of engines refuse what would have to wait, and those of sockets cut who does not read; at 100 % nothing is read.
 */
export class MemoryBudget {
  #maxBytes: number;
  readonly #clock: Clock;
  readonly #owners = new Set<MemoryOwner>();
  readonly #listeners = new Set<(level: MemoryLevel) => void>();
  #stepBytes: number;
  #moved = 0;
  /** Up to the last look. */
  #movedBefore = 0;
  #level: MemoryLevel = 'ok';
  #tight = 0;
  #full = 0;
  #relieved = 0;
  #relievedAt = -Infinity;
  #timer: Timer | undefined;

  /** `maxBytes`: a whole number from 1. */
  constructor(maxBytes: number, clock: Clock = systemClock) {
    this.#maxBytes = checked(maxBytes);
    this.#stepBytes = Math.ceil(maxBytes * STEP);
    this.#clock = clock;
  }

  /** All there is, in bytes. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  /**
   * Has another bound from now on, a whole number of bytes from 1. What is held already stays: a lower one makes memory short until enough of it
   * is gone. The share that sockets keep for connections is that of the bound with which they were made.
   */
  resize(maxBytes: number): void {
    this.#maxBytes = checked(maxBytes);
    this.#stepBytes = Math.ceil(maxBytes * STEP);
    this.look();
  }

  /** As it was when it was last looked. */
  get level(): MemoryLevel {
    return this.#level;
  }

  /** All that is held now. */
  get heldBytes(): number {
    let bytes = 0;
    for (const owner of this.#owners) bytes += owner.heldBytes;
    return bytes;
  }

  /** All that has come in or was to go out so far. */
  get movedBytes(): number {
    return this.#movedBefore + this.#moved;
  }

  /** Sizes now and totals so far. */
  stats(): MemoryStats {
    const { maxBytes, heldBytes, level } = this;
    return { maxBytes, heldBytes, level, tight: this.#tight, full: this.#full, relievedBytes: this.#relieved };
  }

  /** One more owner, who is told the level unless it is `ok`; returns the function that takes it out again. */
  add(owner: MemoryOwner): () => void {
    this.#owners.add(owner);
    if (this.#level !== 'ok') owner.onLevel?.(this.#level);
    return () => {
      this.#owners.delete(owner);
    };
  }

  /** Calls `listener` after each change of the level, until the returned function is called. */
  onChange(listener: (level: MemoryLevel) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** So many bytes have come in, or wait to go out. */
  moved(bytes: number): void {
    this.#moved += bytes;
    if (this.#moved >= this.#stepBytes) this.look();
  }

  /** Sums up, and does what follows. */
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

  /** Has its owners give back what lies ready for more. */
  rest(): void {
    for (const owner of this.#owners) owner.onRest?.();
  }

  #levelOf(held: number): MemoryLevel {
    const part = held / this.maxBytes;
    if (part >= (this.#level === 'full' ? LESS_THAN_FULL : 1)) return 'full';
    return part >= (this.#level === 'ok' ? TIGHT : LOOSE) ? 'tight' : 'ok';
  }

  /** Not at once again: until the connections that were cut are gone, they seem to hold what is being freed. */
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
    if (relieved > 0) this.#relievedAt = now;
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
