/** PZQ: stored moments of the wall clock, at which delays and lifetimes end. Rules 32 and 33 of docs/protocols/pzq.md. */
import type { Entropy } from '@proj/transport';
import type { Output } from '../output.js';

/** Moments requested at a time; few, because bodies come with them. */
const DUE_MAX = 64;
/** Longest time between checks of the wall clock, which may be set. */
const LONGEST_WAIT_MS = 60_000;
const MICROS = 1000;

/** Asks the store what is due, when something is. */
export class Delays {
  readonly #entropy: Entropy;
  readonly #out: Output;
  readonly #retryMs: number;
  #nextMicros = Infinity;
  #at = Infinity;
  #asking = false;
  /** No commit has answered the last moments yet. */
  #open = false;

  /** `retryMs`: pause after a read that failed or found nothing. */
  constructor(retryMs: number, entropy: Entropy, out: Output) {
    this.#retryMs = retryMs;
    this.#entropy = entropy;
    this.#out = out;
  }

  /** When to check again. */
  get deadline(): number {
    return this.#asking || this.#open ? Infinity : this.#at;
  }

  /** A commit reports the next moment; `answered`: it has answered the last ones. */
  expect(nextMicros: number, answered: boolean): void {
    if (answered) this.#open = false;
    if (nextMicros === this.#nextMicros && !answered) return;
    this.#nextMicros = nextMicros;
    this.#arm();
  }

  /** Asks the store for at most `room` messages. False if nothing is due. */
  ask(room: number): boolean {
    if (room <= 0 || this.deadline > this.#out.now) return false;
    const nowMicros = this.#entropy.wallMicros();
    if (nowMicros < this.#nextMicros) {
      this.#arm();
      return false;
    }
    this.#asking = true;
    this.#out.effects.push({ kind: 'due', nowMicros, limit: Math.min(room, DUE_MAX) });
    return true;
  }

  /** The store has answered; `open`: with moments, which a commit will answer. */
  answered(open: boolean): void {
    this.#asking = false;
    this.#open = open;
    if (!open) this.#at = this.#out.now + this.#retryMs;
  }

  #arm(): void {
    const waitMs = Math.ceil((this.#nextMicros - this.#entropy.wallMicros()) / MICROS);
    this.#at =
      this.#nextMicros === Infinity ? Infinity : this.#out.now + Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
  }
}
