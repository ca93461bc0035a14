/** Frames that wait in the memory they came in, beside what else was in it: a little of that is cheaper than copies. No protocol. */
import { slackOf } from '@proj/frames';

/** Up to this part of a byte budget: a short queue is gone in a moment. */
const PART = 1 / 64;

/** Counts the memory that kept messages hold beyond themselves. */
export class Slack {
  readonly #max: number;
  #used = 0;

  /** Of the budget that the frames themselves are taken from. */
  constructor(budget: { readonly max: number }) {
    this.#max = budget.max * PART;
  }

  /** What is held beyond the frames that are kept. */
  get used(): number {
    return this.#used;
  }

  /**
   * What the frames of a message hold beyond themselves is taken, to be given back when they are kept no more; `undefined` when they are to
   * be copied by `compactAll` instead.
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
