import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Archive } from './archive.js';
import type { Machine } from './machine.js';
import { pageOf } from './page.js';
import { merge, rounded, staleDrawings } from './results.js';
import type { Part, Results } from './results.js';

const ORDER = ['chain', 'scale'];

function part(commit: string, ...drawings: string[]): Part {
  const machine: Machine = {
    date: '2026-01-02T03:04:05.678Z',
    commit,
    node: 'v20.20.2',
    system: 'linux',
    cpus: 2,
    cpu: 'CPU',
    memoryGiB: 8,
    load: 0.5,
  };
  const findings = [{ what: 'p50', measured: 0.7, unit: 'x', limit: { atMost: 0.6 } }];
  return { machine, findings, leftOut: [{ what: 'NATS', missing: 'nats-server' }], drawings };
}

test('a section that is measured again replaces its own results and no others', () => {
  const first = merge(merge({}, 'scale', part('a'), ORDER), 'chain', part('b'), ORDER);
  const second = merge(first, 'scale', part('c'), ORDER);
  expect(Object.entries(second).map(([name, { machine }]) => `${name} ${machine.commit}`)).toEqual([
    'chain b',
    'scale c',
  ]);
});

test('removed sections are forgotten', () => {
  expect(Object.keys(merge({ old: part('a') }, 'chain', part('b'), ORDER))).toEqual(['chain']);
});

test('drawings that were not drawn again are stale', () => {
  const before = { chain: part('a', 'one.svg', 'two.svg'), scale: part('a', 'three.svg') };
  expect(staleDrawings(before, { ...before, chain: part('b', 'two.svg') })).toEqual(['one.svg']);
});

test('figures are kept to five digits', () => {
  expect(rounded({ what: 'w', measured: 45_691.639, unit: '/s' }).measured).toBe(45_692);
});

test('the page says which limits were missed, what was left out, and at which commit', () => {
  const page = pageOf({ chain: part('abc1234', 'one.svg') });
  expect(page).toContain('**missed**');
  expect(page).toContain('- Left out: NATS; missing: nats-server');
  expect(page).toContain('2026-01-02 03:04 UTC, commit abc1234');
  expect(page).toContain('![one.svg](one.svg)');
});

test('a folder keeps the sections of several runs, but no drawing of an earlier one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
  try {
    const drawing = (file: string) => new Map([[file, '<svg/>']]);
    const [one, other] = [await Archive.open(folder), await Archive.open(folder)];
    await one.keep('chain', part('a', 'one.svg'), drawing('one.svg'), ORDER);
    await other.keep('scale', part('b', 'two.svg'), drawing('two.svg'), ORDER);
    await one.keep('chain', part('c', 'three.svg'), drawing('three.svg'), ORDER);
    expect((await readdir(folder)).sort()).toEqual(['README.md', 'results.json', 'three.svg', 'two.svg']);
    const kept = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as Results;
    expect([kept['chain']?.machine.commit, kept['scale']?.machine.commit]).toEqual(['c', 'b']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the committed page shows the committed results, and every drawing it names exists', async () => {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  const results = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as Results;
  expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe(pageOf(results));
  const drawings = Object.values(results).flatMap((one) => one.drawings);
  expect((await readdir(folder)).sort()).toEqual(['README.md', 'results.json', ...drawings].sort());
});
