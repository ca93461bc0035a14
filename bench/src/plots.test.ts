import { expect, test } from 'vitest';
import { plots } from './plots.js';

test('a table becomes a drawing with a panel for each unit, a curve one with a line for each series', () => {
  const cell = (row: string, column: string, measured: number, unit: string) => ({
    what: row,
    measured,
    unit,
    cell: { table: 'Broker alone, 1 in flight', row, column },
  });
  const place = (series: string, x: number) => ({
    what: series,
    measured: 1,
    unit: 'x',
    place: { plot: 'by workers', series, x },
  });
  const drawn = plots([
    cell('ours', 'p50', 10, 'us'),
    cell('ours', 'p99', 20, 'us'),
    cell('ours', 'throughput', 5, '/s'),
    place('a & b', 10),
    place('a & b', 1000),
    { what: 'nowhere', measured: 1, unit: 'x' },
  ]);
  expect([...drawn.keys()]).toEqual(['by-workers', 'broker-alone-1-in-flight']);
  expect(drawn.get('by-workers')?.match(/<polyline/g)).toHaveLength(1);
  expect(drawn.get('by-workers')).toContain('a &amp; b');
  expect(drawn.get('broker-alone-1-in-flight')).toMatch(/>us<[^]*>p50<[^]*>p99<[^]*>\/s<[^]*>throughput</);
});

test('values that are not numbers are not drawn', () => {
  const cell = { table: 't', row: 'r', column: 'c' };
  expect(plots([{ what: 'w', measured: Number.NaN, unit: 'x', cell }]).size).toBe(0);
});
