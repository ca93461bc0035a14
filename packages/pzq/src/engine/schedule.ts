/**
 * PZQ: times of the wall clock that lie in the store: delayed messages that become ready, messages whose time is over. Section 5
 * of docs/protocols/pzq.md.
 */
import type { Entropy } from '@proj/transport';
import type { Output } from './output.js';

/** Moments asked for at a time; few, since bodies come with them. */
const DUE_MAX = 64;
/** The wall clock is looked at again after this time at the latest: somebody may set it. */
const LONGEST_WAIT_MS = 60_000;
const MICROS = 1000;

/** Asks the store what is due, when something is. */
export class Schedule {
  readonly #entropy: Entropy;
  readonly #out: Output;
  readonly #retryMs: number;
  #nextMicros = Infinity;
  #at = Infinity;
  #asking = false;
  /** What was told last has not been answered by a commit. */
  #open = false;

  /** `retryMs`: pause after a read that failed, or that found nothing. */
  constructor(retryMs: number, entropy: Entropy, out: Output) {
    this.#retryMs = retryMs;
    this.#entropy = entropy;
    this.#out = out;
  }

  /** When to look again. */
  get deadline(): number {
    return this.#asking || this.#open ? Infinity : this.#at;
  }

  /** A commit tells when the next moment is, and has answered the last ones when `answered`. */
  expect(nextMicros: number, answered: boolean): void {
    if (answered) this.#open = false;
    if (nextMicros === this.#nextMicros && !answered) return;
    this.#nextMicros = nextMicros;
    this.#schedule();
  }

  /** True when the store is to be asked now, for at most `room` messages. Then it is. */
  ask(room: number): boolean {
    if (room <= 0 || this.deadline > this.#out.now) return false;
    const nowMicros = this.#entropy.wallMicros();
    if (nowMicros < this.#nextMicros) {
      this.#schedule();
      return false;
    }
    this.#asking = true;
    this.#out.push({ kind: 'due', nowMicros, limit: Math.min(room, DUE_MAX) });
    return true;
  }

  /** The answer is here; `open`: it told something, which a commit will answer. */
  answered(open: boolean): void {
    this.#asking = false;
    this.#open = open;
    if (!open) this.#at = this.#out.now + this.#retryMs;
  }

  #schedule(): void {
    const waitMs = Math.ceil((this.#nextMicros - this.#entropy.wallMicros()) / MICROS);
    this.#at =
      this.#nextMicros === Infinity ? Infinity : this.#out.now + Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
  }
}
