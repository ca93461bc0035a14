/** Frames that wait in the memory they came in, beside what else was in it: a little of that is cheaper than copies. No protocol. */
import { compact } from '@proj/frames';

/** Up to this part of a byte budget: a short queue is gone in a moment. */
const PART = 1 / 64;

/**
 * Counts the memory that kept frames hold beyond themselves. Frames of one piece of memory count it each: it is little that is left loose,
 * and no more than is said.
 */
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

  /** What these frames hold beyond themselves is taken, to be given back when they are kept no more; `undefined` when they are to be {@link tight} instead. */
  take(frames: readonly Uint8Array[]): number | undefined {
    let slack = 0;
    for (const frame of frames) slack += slackOf(frame);
    if (this.#used + slack > this.#max) return undefined;
    this.#used += slack;
    return slack;
  }

  give(slack: number): void {
    this.#used -= slack;
  }
}

/** The same frames without slack. */
export function tight(frames: readonly Uint8Array[]): Uint8Array[] {
  return frames.map(compact);
}

function slackOf({ buffer, length }: Uint8Array): number {
  return buffer.byteLength > 2 * length ? buffer.byteLength - length : 0;
}
