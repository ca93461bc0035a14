/** Histogram arithmetic: what was recorded between two snapshots, and sums. Pure. */
import type { HistogramSnapshot } from '@proj/transport/engine';
import { percentile } from '@proj/transport/engine';
import type { LatencyRow } from './model.js';

/** Nothing recorded. */
export const EMPTY: HistogramSnapshot = { count: 0, sumMs: 0, buckets: new Uint32Array(0) };

/** The records in `later` that are not in `earlier`. All of them if `earlier` is not a predecessor, for example from before a restart. */
export function since(later: HistogramSnapshot, earlier: HistogramSnapshot): HistogramSnapshot {
  if (later.count < earlier.count || earlier.count === 0) return later;
  if (later.count === earlier.count) return EMPTY;
  return combine(later, earlier, -1);
}

/** The sum of both. */
export function sum(one: HistogramSnapshot, other: HistogramSnapshot): HistogramSnapshot {
  if (one.count === 0) return other;
  return other.count === 0 ? one : combine(one, other, 1);
}

/** The sum of any number of histograms. */
export class HistogramSum {
  #count = 0;
  #sumMs = 0;
  #buckets = EMPTY.buckets;

  add({ count, sumMs, buckets }: HistogramSnapshot): void {
    if (count === 0) return;
    if (this.#buckets.length < buckets.length) {
      const before = this.#buckets;
      this.#buckets = new Uint32Array(buckets.length);
      this.#buckets.set(before);
    }
    this.#count += count;
    this.#sumMs += sumMs;
    for (let index = 0; index < buckets.length; index++)
      this.#buckets[index] = (this.#buckets[index] ?? 0) + (buckets[index] ?? 0);
  }

  /** The sum so far. Add nothing afterwards. */
  get snapshot(): HistogramSnapshot {
    return { count: this.#count, sumMs: this.#sumMs, buckets: this.#buckets };
  }
}

/** Percentiles in milliseconds. */
export function latencyOf(histogram: HistogramSnapshot): LatencyRow {
  const at = (share: number) => percentile(histogram, share);
  return { count: histogram.count, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function combine(one: HistogramSnapshot, other: HistogramSnapshot, sign: 1 | -1): HistogramSnapshot {
  const length = Math.max(one.buckets.length, other.buckets.length);
  const buckets = new Uint32Array(length);
  for (let index = 0; index < length; index++)
    buckets[index] = Math.max(0, (one.buckets[index] ?? 0) + sign * (other.buckets[index] ?? 0));
  return { count: one.count + sign * other.count, sumMs: one.sumMs + sign * other.sumMs, buckets };
}
