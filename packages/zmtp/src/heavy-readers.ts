/** Readers whose messages are each much work, such as a job for hundreds of workers: they take turns, and rest in between. */
import { Fifo } from '@proj/transport/adapter';
import type { Flushing, Reading } from './turn.js';
import { deadlineOf } from './watch.js';
import type { Watch, Watched } from './watch.js';

/** They rest this many times as long as the last of them worked, with the output that it caused: others get that share of the time. */
const REST = 4;
/** The longest rest, and how long ago others may have sent a message that still want it. Milliseconds. */
const REST_MAX_MS = 100;

/** A queue of them, first in, first out. */
export class HeavyReaders implements Watched, Flushing {
  readonly #watch: Watch;
  readonly #wake: () => void;
  readonly #waiting = new Fifo<Reading>();
  readonly #deadline = deadlineOf(this);
  /** Since when one has been at work; `undefined` once its output is written. */
  #servedAt: number | undefined;
  #restsUntil = -Infinity;
  /** When a message of somebody else came last. */
  othersAt = -Infinity;

  /** Calls `wake` when {@link serve} has something to do. */
  constructor(watch: Watch, wake: () => void) {
    this.#watch = watch;
    this.#wake = wake;
  }

  push(reader: Reading): void {
    this.#waiting.push(reader);
    this.#schedule();
  }

  /** One resumes, if the last one has rested. True if so: {@link onFlush} is to be called when its output is written. */
  serve(): boolean {
    if (this.#servedAt !== undefined || this.#waiting.length === 0) return false;
    const now = this.#watch.now();
    if (now < this.#restsUntil) return false;
    this.#servedAt = now;
    this.#waiting.shift()?.onRead(now);
    this.#wake();
    return true;
  }

  onFlush(): void {
    if (this.#servedAt === undefined) return;
    const now = this.#watch.now();
    const areAlone = this.#servedAt - this.othersAt > REST_MAX_MS;
    this.#restsUntil = areAlone ? now : now + Math.min(REST * Math.max(0, now - this.#servedAt), REST_MAX_MS);
    this.#servedAt = undefined;
    this.#schedule();
  }

  onDeadline(): void {
    this.#wake();
  }

  #schedule(): void {
    if (this.#servedAt !== undefined || this.#waiting.length === 0) return;
    if (this.#watch.now() < this.#restsUntil) this.#watch.set(this.#deadline, this.#restsUntil);
    else this.#wake();
  }
}
