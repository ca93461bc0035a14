import { existsSync } from 'node:fs';
import { cp, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { walkFile } from './folder/index.js';
import { lmdbRecords } from './index.js';

const FILE = 'records.mdb';
const MARKER = 'records.mdb-state';
const DAMAGE_BYTES = 64;

let folder: string;
const stores: RecordStore[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proj-damage-'));
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await rm(folder, { recursive: true });
});

async function opened(path = folder): Promise<RecordStore> {
  const store = lmdbRecords({ folder: path });
  stores.push(store);
  await store.open();
  return store;
}

/** The outcome of opening it. */
async function refusal(path = folder): Promise<string> {
  const error: unknown = await opened(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isProjError(error, 'CORRUPT'), String(error)).toBe(true);
  return (error as Error).message;
}

/** The same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function all(store: RecordStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const [key, value] of store.entries()) found.set(key, Buffer.from(value).toString('latin1'));
  return found;
}

/** A closed store that has seen changes, with short and long values; returns what it holds. */
async function filled(path = folder): Promise<Map<string, string>> {
  const store = await opened(path);
  const next = numbers(7);
  for (let round = 0; round < 30; round++) {
    const puts = Array.from({ length: 40 }, () => {
      const size = next(10) === 0 ? 3000 + next(9000) : next(60);
      return [`key ${next(900)}`, Buffer.alloc(size, next(256))] as const;
    });
    await store.commit({ puts, removes: Array.from({ length: 15 }, () => `key ${next(900)}`) });
  }
  const found = await all(store);
  await store.close();
  return found;
}

async function write(path: string, at: number, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, at);
  await file.close();
}

describe('a store of records that was damaged', () => {
  it('is walked without LMDB: the same entries, no damage', async () => {
    const records = await filled();
    const walked = new Map<string, string>();
    const damages: unknown[] = [];
    await walkFile(join(folder, FILE), {
      entry: (table, key, value) => {
        if (table === 'sealed') walked.set(key.toString(), value.subarray(0, -4).toString('latin1'));
        return true;
      },
      damage: (damage) => damages.push(damage),
    });
    expect(damages).toEqual([]);
    expect(walked).toEqual(records);
  });

  it('with 64 random bytes anywhere either reports it or returns everything it held', async () => {
    const records = await filled();
    const bytes = await readFile(join(folder, FILE));
    const next = numbers(20);
    const outcomes = { told: 0, whole: 0 };
    for (let round = 0; round < 60; round++) {
      const path = `${folder}-${round}`;
      await cp(folder, path, { recursive: true });
      const noise = Uint8Array.from({ length: DAMAGE_BYTES }, () => next(256));
      // Half of them where the trees are, which LMDB trusts.
      await write(join(path, FILE), next(round % 2 === 0 ? bytes.length : bytes.length / 8), noise);
      const store = lmdbRecords({ folder: path });
      try {
        await store.open();
        expect(await all(store)).toEqual(records);
        await store.commit({ puts: [['new', Buffer.from('value')]] });
        outcomes.whole++;
      } catch (error) {
        expect(isProjError(error, 'CORRUPT'), String(error)).toBe(true);
        outcomes.told++;
      } finally {
        await store.close();
      }
      await rm(path, { recursive: true });
    }
    expect(outcomes.told).toBeGreaterThan(10);
    expect(outcomes.whole).toBeGreaterThan(10);
  });

  it('names the place and what to do', async () => {
    const records = await filled();
    const bytes = await readFile(join(folder, FILE));
    const [key] = [...records].find(([, value]) => value.length > 3000) ?? [''];
    const value = Buffer.from(records.get(key) ?? '', 'latin1');
    const at = bytes.indexOf(value);
    await write(join(folder, FILE), at + 100, Buffer.from([(value[0] ?? 0) ^ 1]));
    expect(await refusal()).toMatch(
      new RegExp(
        `^the store in ${folder} is damaged \\(page \\d+ of table sealed has an entry that does not match its checksum\\): restore it from a copy, or run 'proj queue check ${folder}'`,
      ),
    );
  });

  it('a large one that was closed properly is not checked; then a read finds the damage, and from then on opening does', async () => {
    const store = await opened();
    const marker = Buffer.from('this is the record that will be damaged');
    for (let part = 0; part < 9; part++)
      await store.commit({ puts: [[`large ${part}`, Buffer.alloc(8 * 2 ** 20, part)]] });
    await store.commit({ puts: [['marked', marker]] });
    await store.close();
    const file = join(folder, FILE);
    const bytes = await readFile(file);
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1))
      await write(file, at, Buffer.from('X'));
    const again = await opened();
    expect((await again.get('large 3'))?.length).toBe(8 * 2 ** 20);
    await expect(again.get('marked')).rejects.toThrow(
      /^record "marked" of the store in .* does not match its checksum/,
    );
    await again.close();
    // Like one that nobody has closed.
    await writeFile(join(folder, MARKER), 'open\n');
    expect(await refusal()).toContain('is damaged (page');
  });

  it('does not include pages that a process writes meanwhile', async () => {
    const store = await opened();
    await store.commit({ puts: [['key', Buffer.from('value')]] });
    await rm(join(folder, MARKER));
    await expect(opened()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a store of records that was lost', () => {
  it.each([
    ['is empty', (path: string) => truncate(path, 0)],
    ['is gone', (path: string) => rm(path)],
  ])('is not mistaken for a new one: its file %s', async (what, lose) => {
    await filled();
    await lose(join(folder, FILE));
    expect(await refusal()).toBe(
      `there was a store in ${folder}, and its file ${FILE} ${what}: restore it from a copy, or also remove ${join(folder, MARKER)} to start empty`,
    );
    await rm(join(folder, MARKER));
    await rm(join(folder, `${FILE}-lock`));
    expect(await all(await opened())).toEqual(new Map());
  });

  it('does not mean a store whose creation was interrupted', async () => {
    await writeFile(join(folder, MARKER), 'making\n');
    await writeFile(join(folder, FILE), '');
    expect(await all(await opened())).toEqual(new Map());
  });

  it('says how it was left', async () => {
    const store = await opened();
    expect(await readFile(join(folder, MARKER), 'utf8')).toMatch(/^open\n{"pid":\d+/);
    await store.close();
    expect(await readFile(join(folder, MARKER), 'utf8')).toMatch(/^closed\n/);
    expect(existsSync(join(folder, FILE))).toBe(true);
  });
});

describe('a store of records of a version without checksums', () => {
  async function old(count: number): Promise<Map<string, string>> {
    const root = openLmdb<Buffer, string>(join(folder, FILE), { encoding: 'binary', cache: false, maxDbs: 1 });
    const table = root.openDB<Buffer, Buffer>('records', { encoding: 'binary', keyEncoding: 'binary', cache: false });
    await root.put('format', Buffer.from('proj records 1'));
    const records = Array.from({ length: count }, (_, n) => [`key ${String(n).padStart(4, '0')}`, `old ${n}`] as const);
    await root.batch(() => {
      for (const [key, value] of records) void table.put(Buffer.from(key), Buffer.from(value));
    });
    await root.close();
    return new Map(records);
  }

  it('opens, keeps what it held, and writes with checksums from then on', async () => {
    const records = await old(600);
    const store = await opened();
    expect(await all(store)).toEqual(records);
    const puts = [...Array(600).keys()]
      .filter((n) => n % 3 === 0)
      .map((n) => [`key ${String(n).padStart(4, '0')}`, Buffer.from('new')] as const);
    await store.commit({ puts, removes: ['key 0001'] });
    for (const [key] of puts) records.set(key, 'new');
    records.delete('key 0001');
    const found = await all(store);
    expect([...found]).toEqual([...records]);
    expect([await store.get('key 0000'), await store.get('key 0001'), await store.get('key 0002')].map(String)).toEqual(
      ['new', 'undefined', 'old 2'],
    );
    await store.close();
    const file = join(folder, FILE);
    const bytes = await readFile(file);
    expect(bytes.includes('proj records 2')).toBe(true);
  });
});
