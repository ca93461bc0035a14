/** Fetched files match their announcement, are fetched once per content, within the bound, and stay in the folder. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCache } from './index.js';
import type { FileSource } from './index.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A source that counts; `sent`: what it sends if that differs from what it announced. */
function sourceOf(text: string, sent: readonly string[] = [text]) {
  const asked = { details: 0, chunks: 0 };
  const source: FileSource = {
    details: () => {
      asked.details++;
      return Promise.resolve({ size: Buffer.byteLength(text), md5: createHash('md5').update(text).digest('hex') });
    },
    async *chunks() {
      asked.chunks++;
      for (const part of sent) yield await Promise.resolve(Buffer.from(part));
    },
  };
  return { ...source, asked };
}

const cacheOf = (maxBytes = 100) => new FileCache({ folder, maxBytes });
const files = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

describe('a file', () => {
  it('lies where its URL says, and is fetched once for simultaneous requests', async () => {
    const cache = cacheOf();
    const source = sourceOf('hello', ['he', 'll', 'o']);
    const held = await Promise.all([1, 2, 3].map(() => cache.fetch('nf://a/b%20c.txt', source)));
    expect(new Set(held.map(({ path }) => path))).toEqual(new Set([join(folder, 'a/b c.txt')]));
    expect(await readFile(held[0]!.path, 'utf8')).toBe('hello');
    expect(source.asked).toEqual({ details: 3, chunks: 1 });
  });

  it('is fetched again if the source has a different one, also after a restart, but not if it is the same', async () => {
    await cacheOf().fetch('nf://a', sourceOf('one'));
    const cache = cacheOf();
    const same = sourceOf('one');
    await cache.fetch('nf://a', same);
    expect(same.asked.chunks).toBe(0);
    const { path } = await cache.fetch('nf://a', sourceOf('two'));
    expect(await readFile(path, 'utf8')).toBe('two');
    await writeFile(path, 'TWO');
    await cache.fetch('nf://a', sourceOf('two'));
    expect(await readFile(path, 'utf8')).toBe('two');
    expect(cache.bytes).toBe(3);
  });

  it.each([
    ['too few bytes', ['hel']],
    ['too many', ['hello', '!']],
    ['others', ['hallo']],
  ])('that comes with %s is not a file, and leaves nothing behind', async (_, sent) => {
    const cache = cacheOf();
    await expect(cache.fetch('nf://a/b', sourceOf('hello', sent))).rejects.toMatchObject({ code: 'PROTOCOL_REMOTE' });
    expect(await files()).toEqual([]);
    expect(cache.bytes).toBe(0);
  });

  it('that the source does not have fails as the source says', async () => {
    const gone = { ...sourceOf(''), details: () => Promise.reject(new Error('not found')) };
    await expect(cacheOf().fetch('nf://a', gone)).rejects.toThrow('not found');
  });

  it('cannot be a folder, or be below a file', async () => {
    const cache = cacheOf();
    await cache.fetch('nf://a/b', sourceOf('x'));
    await expect(cache.fetch('nf://a', sourceOf('y'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(cache.fetch('nf://a/b/c', sourceOf('y'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await files()).toEqual(['b']);
    expect(cache.bytes).toBe(1);
  });

  it.each([
    'nf://',
    'nf://a/',
    'nf://../a',
    'nf://%2e%2e/a',
    'nf:///etc/passwd',
    'nf://c:/a',
    'nf://a\\b',
    'nf://a%00',
    'nf://a\n',
    'file://a',
    'a',
    'nf://.',
    'nf://x.fetching',
  ])('is not named by the URL %j', async (url) => {
    await expect(cacheOf().fetch(url, sourceOf('x'))).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(await files()).toEqual([]);
  });
});

describe('the bound', () => {
  it('are removed least recently used first', async () => {
    const cache = cacheOf(10);
    for (const name of ['a', 'b', 'c']) (await cache.fetch(`nf://${name}`, sourceOf('xyz'))).release();
    (await cache.fetch('nf://a', sourceOf('xyz'))).release();
    (await cache.fetch('nf://d', sourceOf('xyz'))).release();
    expect(await files()).toEqual(['a', 'c', 'd']);
    expect(cache.bytes).toBe(9);
  });

  it('counts files of an earlier process, and removes incomplete ones', async () => {
    await writeFile(join(folder, 'old'), '12345678');
    await writeFile(join(folder, '.x.fetching'), '12345678');
    const cache = cacheOf(10);
    await cache.fetch('nf://a', sourceOf('xyz'));
    expect(await files()).toEqual(['a']);
  });

  it('keeps files in use, and refuses files without room beside them', async () => {
    const cache = cacheOf(5);
    const held = await cache.fetch('nf://a', sourceOf('xyz'));
    await expect(cache.fetch('nf://b', sourceOf('xyz'))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    held.release();
    held.release();
    await cache.fetch('nf://b', sourceOf('xyz'));
    expect(await files()).toEqual(['b']);
    expect(cache.bytes).toBe(3);
  });
});

describe('deleting', () => {
  it.each([
    ['*', []],
    ['**', []],
    ['*.txt', ['b.txt', 'c']],
    ['d/*.txt', ['a.txt', 'c']],
    ['**/b.txt', ['a.txt', 'c']],
    ['d', ['a.txt']],
    ['?.txt', ['b.txt', 'c']],
    ['[!a].txt', ['a.txt', 'b.txt', 'c']],
    ['[a-c].txt', ['b.txt', 'c']],
    ['z-a', ['a.txt', 'b.txt', 'c']],
    ['(a|b).txt', ['a.txt', 'b.txt', 'c']],
  ])('%s leaves %j', async (pattern, left) => {
    const cache = cacheOf();
    for (const name of ['a.txt', 'd/b.txt', 'd/c']) (await cache.fetch(`nf://${name}`, sourceOf('x'))).release();
    const { deleted, errors } = await cacheOf().delete(pattern);
    expect(await files()).toEqual(left);
    expect(deleted).toHaveLength(3 - left.length);
    expect(errors).toEqual([]);
  });

  it.each(['../*', '/etc/*', 'a'.repeat(2000), '[z-a]'])('%s is refused', async (pattern) => {
    expect(await cacheOf().delete(pattern)).toMatchObject({
      deleted: [],
      errors: [expect.stringContaining('leads out')],
    });
  });

  it('keeps files in use, and says so', async () => {
    const cache = cacheOf();
    await cache.fetch('nf://a', sourceOf('x'));
    expect(await cache.delete('*')).toMatchObject({
      deleted: [],
      errors: [expect.stringContaining('a job is using it')],
    });
    expect(await files()).toEqual(['a']);
  });
});
