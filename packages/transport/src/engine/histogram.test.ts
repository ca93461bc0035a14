import { expect, it } from 'vitest';
import { bucketLimitMs, Histogram, percentile } from './histogram.js';

/** The bucket that one duration falls into. */
function bucketOf(ms: number): number {
  const histogram = new Histogram();
  histogram.record(ms);
  return histogram.snapshot().buckets.indexOf(1);
}

it('takes no memory for buckets before the first record', () => {
  expect(new Histogram().snapshot()).toEqual({ count: 0, sumMs: 0, buckets: new Uint32Array(0) });
});

it.each([0, 0.001, 0.003, 0.004, 0.0049, 0.5, 1, 1.5, 7, 99.999, 1000, 123_456, 2_147_483.646])(
  'puts %d ms into the one bucket whose limits enclose it',
  (ms) => {
    const bucket = bucketOf(ms);
    expect(ms).toBeLessThan(bucketLimitMs(bucket));
    if (bucket > 0) expect(ms).toBeGreaterThanOrEqual(bucketLimitMs(bucket - 1));
  },
);

it('has limits that grow by at most a quarter from 4 us on', () => {
  for (let index = 4; index < 120; index++) {
    const growth = bucketLimitMs(index) / bucketLimitMs(index - 1);
    expect(growth).toBeGreaterThan(1);
    expect(growth).toBeLessThanOrEqual(1.25);
  }
});

it('ends every fourth bucket at a power of two microseconds', () => {
  for (let index = 3; index < 120; index += 4) expect(Math.log2(bucketLimitMs(index) * 1000) % 1).toBeCloseTo(0, 9);
});

it('counts a negative duration as 0 and one over 36 minutes as 36 minutes', () => {
  expect([bucketOf(-1), bucketOf(1e12), bucketOf(Infinity)]).toEqual([0, 119, 119]);
});

it('never lets its sum decrease', () => {
  const histogram = new Histogram();
  histogram.record(5);
  histogram.record(-3);
  expect(histogram.snapshot()).toMatchObject({ count: 2, sumMs: 5 });
});

it('is not changed by what is recorded after a snapshot', () => {
  const histogram = new Histogram();
  histogram.record(1);
  const before = histogram.snapshot();
  histogram.record(3);
  expect([before.count, before.sumMs, histogram.snapshot().sumMs]).toEqual([1, 1, 4]);
  expect(before.buckets.reduce((sum, each) => sum + each)).toBe(1);
});

it('returns the same snapshot again while nothing is recorded', () => {
  const histogram = new Histogram();
  histogram.record(1);
  const first = histogram.snapshot();
  expect(histogram.snapshot()).toBe(first);
  histogram.record(1);
  expect([histogram.snapshot() === first, first.count, histogram.snapshot().count]).toEqual([false, 1, 2]);
});

it('gives percentiles, and 0 when there are no values', () => {
  const histogram = new Histogram();
  expect(percentile(histogram.snapshot(), 0.5)).toBe(0);
  for (let ms = 1; ms <= 100; ms++) histogram.record(ms);
  const shares = [0.5, 0.99, 1].map((share) => percentile(histogram.snapshot(), share));
  expect(shares).toEqual([57.344, 114.688, 114.688]);
});
