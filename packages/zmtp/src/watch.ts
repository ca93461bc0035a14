/** The deadlines of all connections of a process, with one timer. */
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';

/** Something with a deadline. */
export interface Watched {
  /** The deadline has come. The entry is in no heap until it is set again. */
  onDeadline(now: number): void;
}

/** A timer that is later than this did not come late by its coarseness: the process was busy, or stopped. */
const LATE_MS = 100;

/**
 * Deadlines in listening time: the clock's, less the time by which timers came late. While timers are late the process does
 * not listen either, and what it did not hear meanwhile proves nothing (docs/adr/0004-late-timers-extend-life.md).
 */
export class Watch {
  readonly #clock: Clock;
  readonly #heap = new DeadlineHeap<Watched>();
  #deafMs = 0;
  #timer: Timer | undefined;
  #armedFor = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Listening time; may step back a little after a late timer. */
  now(): number {
    return this.#clock.now() - this.#deafMs;
  }

  /** Makes the entry due at `at`, in listening time; `Infinity` takes it out. */
  set(entry: HeapDeadline<Watched>, at: number): void {
    if (at === Infinity) this.#heap.remove(entry);
    else this.#heap.set(entry, at);
    this.#arm();
  }

  /** A timer for an earlier deadline than is left stays: it wakes us once for nothing. The last one is not left behind. */
  #arm(): void {
    const { deadline } = this.#heap;
    if (deadline < this.#armedFor) {
      this.#timer?.cancel();
      this.#armedFor = deadline;
      this.#timer = this.#clock.at(deadline + this.#deafMs, this.#wake);
    } else if (deadline === Infinity) {
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#armedFor = Infinity;
    }
  }

  readonly #wake = (): void => {
    this.#timer = undefined;
    const late = this.now() - this.#armedFor;
    if (late > LATE_MS) this.#deafMs += late;
    this.#armedFor = Infinity;
    const now = this.now();
    for (let due = this.#heap.takeDue(now); due !== undefined; due = this.#heap.takeDue(now)) due.onDeadline(now);
    this.#arm();
  };
}

/** An entry for a {@link Watch}. */
export function deadlineOf(watched: Watched): HeapDeadline<Watched> {
  return new HeapDeadline(watched);
}
