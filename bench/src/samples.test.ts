import { expect, test } from 'vitest';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import type { Finding } from './statistics.js';

function sample(perSecond: number, cpuMicros: Readonly<Record<string, number>> = {}): Sample {
  return { perSecond, latency: { p50: 1, p99: 2, p999: 3 }, cpuMicros };
}

test('every participant has a turn in every round, and the first rounds do not count', async () => {
  const turns: string[] = [];
  const run = (name: string) => {
    let round = 0;
    return [
      name,
      () => {
        turns.push(name);
        return Promise.resolve(sample(round++));
      },
    ] as const;
  };
  const samples = await sideBySide(2, [run('a'), run('b')]);
  expect(turns.join('')).toBe('ab'.repeat(7));
  expect(samples.get('b')?.map(({ perSecond }) => perSecond)).toEqual([5, 6]);
});

test('a ratio is the median of those within each round', () => {
  const samples = new Map([
    ['ours', [sample(2), sample(30), sample(12)]],
    ['theirs', [sample(1), sample(10), sample(4)]],
  ]);
  expect(ratio(samples, 'ours', 'theirs', ({ perSecond }) => perSecond)).toBe(3);
});

test('there is no ratio to something that was not measured', () => {
  const samples = new Map([['ours', [sample(2)]]]);
  expect(ratio(samples, 'ours', 'theirs', ({ perSecond }) => perSecond)).toBeUndefined();
});

test('a row has the medians of rate, latencies and the CPU of every process', () => {
  const found: Finding[] = [];
  const rounds = [
    sample(1, { client: 5, server: 7 }),
    sample(3, { client: 6, server: 9 }),
    sample(2, { client: 9, server: 8 }),
  ];
  reportTable('storing', new Map([['ours', rounds]]), (finding) => found.push(finding));
  expect(found.map(({ cell, measured, unit }) => `${cell?.row} ${cell?.column} ${measured} ${unit}`)).toEqual([
    'ours throughput 2 /s',
    'ours p50 1 us',
    'ours p99 2 us',
    'ours p99.9 3 us',
    'ours CPU of the client 6 us each',
    'ours CPU of the server 8 us each',
  ]);
});
