/** The deadlines of all connections of a process, on one timer. */
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';

/** Something with a deadline. */
export interface Watched {
  /** The deadline has come. The entry leaves the heap until it is set again. */
  onDeadline(now: number): void;
}

/** A timer later than this is not just coarse: the process was busy or stopped. */
const LATE_MS = 100;

/**
 * Deadlines in listening time: clock time minus the time by which timers were late. A late process does not listen, so silence meanwhile proves
 * nothing (docs/adr/0004-late-timers-extend-life.md).
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

  /** Listening time. Steps back after a timer that was late by more than 100 ms. */
  now(): number {
    return this.#clock.now() - this.#deafMs;
  }

  /** Schedules the entry for `at`, in listening time; `Infinity` removes it. */
  set(entry: HeapDeadline<Watched>, at: number): void {
    if (at === Infinity) this.#heap.remove(entry);
    else this.#heap.set(entry, at);
    this.#arm();
  }

  /** A timer for an earlier deadline stays and wakes us once for nothing. An empty heap clears it. */
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
