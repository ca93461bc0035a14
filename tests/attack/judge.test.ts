import { expect, it } from 'vitest';
import { isUnproven, kept, missed } from './judge.js';
import type { Result } from './judge.js';

const GOOD: Result = {
  attack: 'mdp/nothing',
  transport: 'zmtp',
  seconds: 10,
  rss: { idle: 60, before: 100, peak: 190, after: 150 },
  quietP99Ms: 5,
  p99Ms: 35,
  machineP99Ms: 2,
  maxMs: 100,
  asked: 1000,
  lost: 0,
  why: [],
  facts: [],
  logLines: 1200,
  exit: 0,
  exitMs: 3000,
};

it('an attack that stays within all bounds misses none', () => {
  expect(missed(GOOD, { memoryMax: 100 })).toEqual([]);
  expect(missed({ ...GOOD, memoryMax: 1 }, { memoryMax: 100 })).toEqual(['peak']);
});

it.each<[string, Partial<Result>]>([
  ['lost', { lost: 1 }],
  ['p99', { p99Ms: 35.1 }],
  ['peak', { rss: { ...GOOD.rss, peak: 191 } }],
  ['after', { rss: { ...GOOD.rss, after: 151 } }],
  ['log', { logLines: 1201 }],
  ['exit', { exit: 1 }],
  ['exit', { exit: 'SIGABRT' }],
  ['exit', { exitMs: 3001 }],
  ['it read a secret', { facts: ['it read a secret'] }],
])('a missed bound is named: %s, %o', (name, bad) => {
  expect(missed({ ...GOOD, ...bad }, { memoryMax: 100 })).toEqual([name]);
});

it('a machine that is slow for every program excuses a program', () => {
  const slow = { ...GOOD, p99Ms: 320, machineP99Ms: 100 };
  expect(missed(slow)).toEqual([]);
  expect([GOOD, slow, { ...slow, p99Ms: 321 }].map(isUnproven)).toEqual([false, true, false]);
});

it.each(['before', 'peak', 'after'] as const)('memory that could not be measured counts as a miss: %s', (moment) => {
  expect(missed({ ...GOOD, rss: { ...GOOD.rss, [moment]: Number.NaN } }, { memoryMax: 100 })).not.toEqual([]);
});

it('pages of files that came since are not kept memory', () => {
  const before = { now: 100, peak: 100, ofFiles: 40 };
  expect(kept(before, { now: 250, peak: 300, ofFiles: 150 })).toBe(140);
  expect(kept(before, { now: 250, peak: 300, ofFiles: 30 })).toBe(250);
});
