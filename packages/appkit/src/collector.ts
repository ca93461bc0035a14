/** Collects garbage that V8 leaves, if it is worth the time: docs/adr/0026-one-budget-of-memory.md. */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import type { MemoryBudget, MemoryLevel } from '@proj/transport';

/** How long cut connections take to disappear. Milliseconds. */
const GONE_MS = 20;
/** The shortest time between two collections while memory is full; also how often to check whether one is worth it. Milliseconds. */
const FULL_MS = 1000;
export const LOOK_MS = 2000;
/** The least garbage worth a collection; more than a full-size young generation. */
const WORTH_BYTES = 2 ** 25;
/** The same while the event loop is busy for more than this share of the time: a collection would hold up answers, and V8 collects soon by itself. */
const BUSY_WORTH_BYTES = 2 ** 27;
const BUSY_SHARE = 0.5;
/** Empty pages worth another collection: half of a full-size young generation, which V8 shrinks only if little is allocated. */
const EMPTY_BYTES = 2 ** 24;
/** The least a collection returns to the system if another one follows. */
const AGAIN_BYTES = 2 ** 23;

/** Memory that V8 has requested from the system: heap pages and buffers; and how busy its thread is. */
export interface Heap {
  /** The share of the time since the last call, or the start, in which the event loop was busy. */
  busyShare(): number;
  usedBytes(): number;
  /** What of the heap's pages is empty. */
  emptyBytes(): number;
  collect(): void;
}

/** Collects what V8 leaves: V8 collects eagerly only while its own heap grows, never for buffers or without traffic. */
export class Collector {
  readonly #memory: MemoryBudget;
  readonly #clock: Clock;
  readonly #heap: Heap;
  /** Memory in use but not held for peers, as of the last collection. */
  #floor: number;
  #moved = 0;
  #held = 0;
  /** The last check found garbage worth collecting. */
  #hopes = false;
  /** Pages that the last collection has emptied are returned only by the next, and often not all at once. */
  #hasEmptied = false;
  #isHurried = false;

  /** Starts checking, until the process ends. */
  constructor(memory: MemoryBudget, clock: Clock = systemClock, heap: Heap = V8) {
    this.#memory = memory;
    this.#clock = clock;
    this.#heap = heap;
    this.#floor = this.#unaccounted();
    memory.onChange((level) => {
      this.#onLevel(level);
    });
    this.#arm();
  }

  #arm(): void {
    this.#clock.at(this.#clock.now() + LOOK_MS, () => {
      this.#look();
      this.#arm();
    });
  }

  /** When memory becomes full, much is dropped at once. Until it is collected, the process holds it in addition to what comes next. */
  #onLevel(level: MemoryLevel): void {
    if (level !== 'full' || this.#isHurried) return;
    this.#isHurried = true;
    const now = this.#clock.now();
    this.#clock.at(now + GONE_MS, () => {
      this.#collect();
    });
    this.#clock.at(now + FULL_MS, () => {
      this.#isHurried = false;
    });
  }

  /**
   * Collects if the garbage exceeds both what peers hold (the cost of a collection) and what was allocated since the last check: with that much
   * traffic, V8 collects anyway. While the process is busy, only much garbage is worth it.
   */
  #look(): void {
    const isBusy = this.#heap.busyShare() > BUSY_SHARE;
    const { movedBytes, heldBytes } = this.#memory;
    const moved = movedBytes - this.#moved;
    if (moved === 0 && heldBytes === this.#held && !this.#hopes && !this.#hasEmptied) return;
    this.#moved = movedBytes;
    this.#held = heldBytes;
    if (moved < WORTH_BYTES) this.#memory.rest();
    const garbage = this.#unaccounted() - this.#floor;
    this.#hopes = garbage >= WORTH_BYTES;
    if (garbage >= Math.max(isBusy ? BUSY_WORTH_BYTES : WORTH_BYTES, heldBytes, moved)) this.#collect();
    else if (this.#hasEmptied && moved < WORTH_BYTES && !isBusy) {
      const before = this.#heap.usedBytes();
      if (this.#heap.emptyBytes() >= EMPTY_BYTES) this.#collect();
      this.#hasEmptied = before - this.#heap.usedBytes() >= AGAIN_BYTES;
    }
  }

  #collect(): void {
    this.#heap.collect();
    this.#hopes = false;
    this.#hasEmptied = true;
    this.#floor = this.#unaccounted();
  }

  #unaccounted(): number {
    return this.#heap.usedBytes() - this.#memory.heldBytes;
  }
}

let utilization = performance.eventLoopUtilization();

/** This process's collector. */
const V8: Heap = {
  busyShare() {
    const before = utilization;
    utilization = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(utilization, before).utilization;
  },
  usedBytes() {
    const { heapTotal, external } = process.memoryUsage();
    return heapTotal + external;
  },
  emptyBytes() {
    const { heapTotal, heapUsed } = process.memoryUsage();
    return heapTotal - heapUsed;
  },
  collect() {
    collect ??= collectorOfV8();
    collect();
  },
};

let collect: (() => void) | undefined;

function collectorOfV8(): () => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return gc;
}
