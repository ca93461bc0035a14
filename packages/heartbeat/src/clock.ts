/** Time as an argument: the only module of the project that reads a clock or arms a timer. */
import { DeadlineHeap, HeapDeadline } from './deadline-heap.js';

/** A timer that can still be stopped. */
export interface Timer {
  /** Stops the timer; no effect if it has fired or was stopped. */
  cancel(): void;
}

/** A monotonic clock in milliseconds (fractions allowed) and the timers that run on it. Its origin is arbitrary. */
export interface Clock {
  now(): number;
  /** Calls `callback` once, at `deadline` on this clock or as soon as possible afterwards. */
  at(deadline: number, callback: () => void): Timer;
}

/** Node.js timers cannot wait longer than this. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Looked up once: the global is a lazy property, and reading it costs as much as reading the time. */
const time = performance;

class SystemTimer implements Timer {
  readonly #deadline: number;
  readonly #callback: () => void;
  #handle: NodeJS.Timeout;

  constructor(deadline: number, callback: () => void) {
    this.#deadline = deadline;
    this.#callback = callback;
    this.#handle = this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(): NodeJS.Timeout {
    const wait = Math.ceil(this.#deadline - time.now());
    return setTimeout(this.#fire, Math.min(Math.max(wait, 0), LONGEST_WAIT_MS));
  }

  /** Node.js counts from the start of the current turn of its event loop, so a timer armed late in a long turn fires early. */
  readonly #fire = (): void => {
    if (time.now() < this.#deadline) this.#handle = this.#arm();
    else this.#callback();
  };
}

/** The machine's monotonic clock. Timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => time.now(),
  at: (deadline, callback) => new SystemTimer(deadline, callback),
};

/** A clock that moves only when told to, for tests and the simulator. Timers fire in deadline order; equal deadlines in arming order. */
export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new DeadlineHeap<() => void>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  at(deadline: number, callback: () => void): Timer {
    const timer = new HeapDeadline(callback);
    this.#timers.set(timer, deadline);
    return {
      cancel: () => {
        this.#timers.remove(timer);
      },
    };
  }

  /** Deadline of the earliest timer; `Infinity` if none is armed. */
  get nextDeadline(): number {
    return this.#timers.deadline;
  }

  /** Number of armed timers: a closed component leaves none. */
  get armed(): number {
    return this.#timers.size;
  }

  /** Moves time to `until` and fires each timer that falls due, at its own deadline. */
  advanceTo(until: number): void {
    while (this.#timers.deadline <= until && this.fireNext());
    this.#now = Math.max(this.#now, until);
  }

  /** Moves time forward by `ms`. */
  advance(ms: number): void {
    this.advanceTo(this.#now + ms);
  }

  /** Jumps to the earliest timer and fires only that one; false if none is armed. */
  fireNext(): boolean {
    const deadline = this.#timers.deadline;
    const callback = this.#timers.takeDue(deadline);
    if (callback === undefined) return false;
    this.#now = Math.max(this.#now, deadline);
    callback();
    return true;
  }
}
