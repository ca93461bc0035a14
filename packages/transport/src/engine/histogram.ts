/** Durations of any number of requests in a fixed space. Recording one costs a few integer operations and no memory. */

/** Buckets for each doubling of the duration: the error of a percentile is at most an eighth. */
const PER_DOUBLING = 4;
/** 2^31 us are 36 minutes; what takes longer counts as that long. */
const MAX_US = 2 ** 31 - 1;
const BUCKETS = 30 * PER_DOUBLING;

/** The content of a {@link Histogram} at one moment. Plain data; nothing in it changes afterwards. The same object again while nothing is recorded. */
export interface HistogramSnapshot {
  /** Durations recorded. */
  readonly count: number;
  /** Their sum in milliseconds. */
  readonly sumMs: number;
  /** How many of them fell into each bucket; {@link bucketLimitMs} tells where a bucket ends. Empty if none was recorded. */
  readonly buckets: Uint32Array;
}

const NOTHING: HistogramSnapshot = { count: 0, sumMs: 0, buckets: new Uint32Array(0) };

/** Counts durations in buckets that grow with the duration. Takes 480 bytes from its first record on. */
export class Histogram {
  #buckets = NOTHING.buckets;
  #count = 0;
  #sumMs = 0;
  /** The latest snapshot while it shares the buckets: until something is recorded. */
  #shown: HistogramSnapshot | undefined = NOTHING;

  /** Adds a duration in milliseconds; a negative one counts as 0. */
  record(ms: number): void {
    if (this.#shown !== undefined) this.#part();
    this.#count++;
    this.#sumMs += Math.max(ms, 0);
    const us = ms <= 0 ? 0 : Math.min(ms * 1000, MAX_US) | 0;
    const index = bucketOf(us);
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
  }

  /** What was recorded so far. Costs a copy only when something has been recorded since the last one. */
  snapshot(): HistogramSnapshot {
    return (this.#shown ??= { count: this.#count, sumMs: this.#sumMs, buckets: this.#buckets });
  }

  /** The snapshot keeps the buckets as they are. */
  #part(): void {
    this.#buckets = this.#count === 0 ? new Uint32Array(BUCKETS) : this.#buckets.slice();
    this.#shown = undefined;
  }
}

/** Where bucket `index` ends, in milliseconds: every duration in it is shorter. Bucket 4n+3 ends at a power of two microseconds. */
export function bucketLimitMs(index: number): number {
  if (index < PER_DOUBLING) return (index + 1) / 1000;
  const shift = Math.floor(index / PER_DOUBLING) - 1;
  return ((PER_DOUBLING + (index % PER_DOUBLING) + 1) * 2 ** shift) / 1000;
}

/** The duration in milliseconds below which `share` (0 to 1) of all recorded durations lie, rounded up to the end of a bucket; 0 if none was recorded. */
export function percentile({ count, buckets }: HistogramSnapshot, share: number): number {
  let left = Math.ceil(count * share);
  for (const [index, held] of buckets.entries()) {
    left -= held;
    if (left <= 0) return bucketLimitMs(index);
  }
  return 0;
}

/** 0 to 3 us have a bucket each; from there on the two bits below the highest one choose it. */
function bucketOf(us: number): number {
  if (us < PER_DOUBLING) return us;
  const top = 31 - Math.clz32(us);
  return (top - 1) * PER_DOUBLING + ((us >>> (top - 2)) & 3);
}
