import { expect, test } from 'vitest';
import { describe as line, figure, groupBy, holds, latencyOf, median } from './statistics.js';

test('the median of an even number is the mean of the two in the middle', () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7])]).toEqual([2, 2.5, 7]);
});

test('the median of nothing is not a number', () => {
  expect(median([])).toBeNaN();
});

test('percentiles accept unsorted times', () => {
  const times = Float64Array.from({ length: 1000 }, (_, index) => (index * 7919) % 1000);
  expect(latencyOf(times)).toEqual({ p50: 500, p99: 990, p999: 999 });
});

test('all percentiles of a single time are that time', () => {
  expect(latencyOf(Float64Array.of(5))).toEqual({ p50: 5, p99: 5, p999: 5 });
});

test('groups keep the order of their keys and values', () => {
  expect([...groupBy(['b1', 'a1', 'b2'], (value) => value[0])]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ]);
});

test('limits hold at the bound, and a figure that is not a number never satisfies one', () => {
  const finding = (measured: number, limit?: { atMost?: number; atLeast?: number }) => ({
    what: 'w',
    measured,
    unit: 'x',
    ...(limit && { limit }),
  });
  expect(holds(finding(1, { atMost: 1 }))).toBe(true);
  expect(holds(finding(1.01, { atMost: 1 }))).toBe(false);
  expect(holds(finding(0.9, { atLeast: 1 }))).toBe(false);
  expect(holds(finding(Number.NaN, { atMost: 1 }))).toBe(false);
  expect(holds(finding(9))).toBe(true);
});

test('a line says whether a limit holds', () => {
  expect(line({ what: 'cost', measured: 1.5, unit: 'x', limit: { atMost: 1 } })).toMatch(
    /^cost +1\.500 x {2}\(at most 1: MISSED\)$/,
  );
});

test('figures are printed with sensible precision', () => {
  expect([0.12345, 12.345, 123.45, 12_345.6].map(figure)).toEqual(['0.123', '12.3', '123', '12,346']);
});
