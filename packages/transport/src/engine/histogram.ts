/** Durations of any number of requests in constant space. Recording costs a few integer operations and no memory. */

/** Buckets per doubling of the duration: a percentile is off by an eighth at most. */
const PER_DOUBLING = 4;
/** 2^31 us are 36 minutes; longer durations count as that. */
const MAX_US = 2 ** 31 - 1;
const BUCKETS = 30 * PER_DOUBLING;

/** A snapshot of a {@link Histogram}: plain immutable data. The same object while nothing is recorded. */
export interface HistogramSnapshot {
  /** Number of recorded durations. */
  readonly count: number;
  /** Their sum in milliseconds. */
  readonly sumMs: number;
  /** Count per bucket; {@link bucketLimitMs} is the end of a bucket. Empty if none was recorded. */
  readonly buckets: Uint32Array;
}

const NOTHING: HistogramSnapshot = { count: 0, sumMs: 0, buckets: new Uint32Array(0) };

/** Counts durations in exponential buckets. Takes 480 bytes from its first record on. */
export class Histogram {
  #buckets = NOTHING.buckets;
  #count = 0;
  #sumMs = 0;
  /** The latest snapshot, while it shares the buckets: until the next record. */
  #shown: HistogramSnapshot | undefined = NOTHING;

  /** Adds a duration in milliseconds; negative ones count as 0. */
  record(ms: number): void {
    if (this.#shown !== undefined) this.#part();
    this.#count++;
    this.#sumMs += Math.max(ms, 0);
    const us = ms <= 0 ? 0 : Math.min(ms * 1000, MAX_US) | 0;
    const index = bucketOf(us);
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
  }

  /** Everything recorded so far. Copies only if something was recorded since the last snapshot. */
  snapshot(): HistogramSnapshot {
    return (this.#shown ??= { count: this.#count, sumMs: this.#sumMs, buckets: this.#buckets });
  }

  /** The snapshot keeps the old buckets. */
  #part(): void {
    this.#buckets = this.#count === 0 ? new Uint32Array(BUCKETS) : this.#buckets.slice();
    this.#shown = undefined;
  }
}

/** The end of bucket `index` in milliseconds: every duration in it is shorter. Bucket 4n+3 ends at a power of two microseconds. */
export function bucketLimitMs(index: number): number {
  if (index < PER_DOUBLING) return (index + 1) / 1000;
  const shift = Math.floor(index / PER_DOUBLING) - 1;
  return ((PER_DOUBLING + (index % PER_DOUBLING) + 1) * 2 ** shift) / 1000;
}

/** The duration in milliseconds below which `share` (0 to 1) of all records lie, rounded up to the end of a bucket; 0 if none was recorded. */
export function percentile({ count, buckets }: HistogramSnapshot, share: number): number {
  let left = Math.ceil(count * share);
  for (const [index, held] of buckets.entries()) {
    left -= held;
    if (left <= 0) return bucketLimitMs(index);
  }
  return 0;
}

/** 0 to 3 us have one bucket each; above that, the two bits below the highest one choose the bucket. */
function bucketOf(us: number): number {
  if (us < PER_DOUBLING) return us;
  const top = 31 - Math.clz32(us);
  return (top - 1) * PER_DOUBLING + ((us >>> (top - 2)) & 3);
}
