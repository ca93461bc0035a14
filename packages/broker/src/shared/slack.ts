/** Waiting frames may stay in the memory block they arrived in, which is cheaper than a copy as long as little is wasted. Knows no protocol. */
import { slackOf } from '@proj/frames';

/** The part of a byte budget that may be wasted: enough for short queues, which drain in a moment. */
const PART = 1 / 64;

/** Counts the memory that kept messages hold beyond their own bytes. */
export class Slack {
  readonly #max: number;
  #used = 0;

  /** `budget`: the one that pays for the frames themselves. */
  constructor(budget: { readonly max: number }) {
    this.#max = budget.max * PART;
  }

  /** Bytes held beyond those of the kept frames. */
  get used(): number {
    return this.#used;
  }

  /**
   * Takes what the frames of a message hold beyond their own bytes; give it back when they are no longer kept. Returns `undefined` if too much
   * is already taken: then copy them with `keepOneOfMany`.
   */
  take(frames: readonly Uint8Array[]): number | undefined {
    const slack = slackOf(frames);
    if (this.#used + slack > this.#max) return undefined;
    this.#used += slack;
    return slack;
  }

  give(slack: number): void {
    this.#used -= slack;
  }
}
