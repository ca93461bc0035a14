import type { BigIntStats, Dir, Dirent } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { Confinement } from './confinement.js';
import { Files } from './files.js';
import { inPieces, sorted } from './pieces.js';

/** How often the event loop turns while something is done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isDone = true;
  return turns;
}

it('long lists are handled in pieces, and the event loop turns in between', async () => {
  const items = Array.from({ length: 10_000 }, (_, index) => index);
  const seen: number[] = [];
  const sizes: number[] = [];
  const work = async (): Promise<void> => {
    for await (const some of inPieces(items, 100)) {
      seen.push(...some);
      sizes.push(some.length);
    }
  };
  expect(await turnsOf(work())).toBeGreaterThanOrEqual(99);
  expect(seen).toEqual(items);
  expect(new Set(sizes)).toEqual(new Set([100]));
});

it.each([
  [0, 0],
  [1, 0],
  [2048, 0],
  [2049, 2],
  [20_000, 35],
])('%i items are sorted, equal ones in their order, while the event loop turns %i times', async (length, least) => {
  const items = Array.from({ length }, (_, index) => ({ index, key: (index * 7919) % 1009 }));
  const compare = (one: { key: number }, other: { key: number }): number => one.key - other.key;
  let result: typeof items = [];
  const turns = await turnsOf(sorted(items, compare).then((all) => (result = all)));
  expect(result).toEqual([...items].sort(compare));
  expect(turns).toBeGreaterThanOrEqual(least);
});

it('lists that are handled at once take turns', async () => {
  const items = Array.from({ length: 20_000 }, (_, index) => -index);
  const list = (): Promise<unknown> => sorted(items, (one, other) => one - other);
  const alone = await turnsOf(list());
  expect(await turnsOf(Promise.all([list(), list(), list(), list()]))).toBeGreaterThanOrEqual(3 * alone);
});

it('a walk over many files lets others have turns', async () => {
  const entries = Array.from({ length: 5000 }, (_, index) => ({ name: `file-${index}`, type: 'file' }));
  const inside = { list: () => Promise.resolve({ kind: 'directory', entries }) } as unknown as Confinement;
  const files = new Files({ folder: '/' }, inside);
  let found: unknown;
  const turns = await turnsOf(files.walk('nf://').then((answer) => (found = answer)));
  expect(turns).toBeGreaterThanOrEqual(19);
  expect(found).toMatchObject({ found: true, value: { length: 5000 } });
});

it('directories that are read at once take turns', async () => {
  const names = Array.from({ length: 2000 }, (_, index) => `file-${index}`);
  const entries = names.map((name) => ({ name, isFile: () => true }) as Dirent);
  const inside = new Confinement('/', {
    realpath: (path) => Promise.resolve(path),
    stat: () => Promise.resolve({ dev: 1n, ino: 1n } as BigIntStats),
    open: () => Promise.resolve({} as FileHandle),
    opendir: () => Promise.resolve(entries as unknown as Dir),
  });
  const read = (): Promise<unknown> => inside.list('', 10_000);
  expect(await read()).toMatchObject({ kind: 'directory', entries: { length: 2000 } });
  expect(await turnsOf(Promise.all([read(), read(), read(), read()]))).toBeGreaterThanOrEqual(4 * 15);
});
