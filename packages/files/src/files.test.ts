import { createHash } from 'node:crypto';
import { appendFile, link, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Files } from './files.js';

let base: string;
let files: Files;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'files-'));
  await mkdir(join(base, 'sub/deep'), { recursive: true });
  await writeFile(join(base, 'hello.txt'), 'hello norfab\n');
  await writeFile(join(base, '.hidden'), '');
  await writeFile(join(base, 'sub/s.txt'), 'sub');
  await writeFile(join(base, 'sub/deep/100%.txt'), 'deep');
  files = new Files({ folder: base });
});

afterEach(() => rm(base, { recursive: true }));

const found = (value: unknown) => ({ found: true, value });
const MISSING = { found: false, escape: false };
const text = async (url: string, offset = 0, size = 100) => {
  const answer = await files.read(url, offset, size);
  return answer.found ? Buffer.from(answer.value.bytes).toString() : answer;
};
const md5 = (content: string) => createHash('md5').update(content).digest('hex');

describe('list', () => {
  it('names everything in a directory, sorted', async () => {
    expect(await files.list('nf://')).toEqual(found(['.hidden', 'hello.txt', 'sub']));
    expect(await files.list('nf://sub')).toEqual(found(['deep', 's.txt']));
    expect(await files.list('nf://sub/')).toEqual(found(['deep', 's.txt']));
  });

  it.each(['nf://none', 'nf://hello.txt', 'http://sub', 'sub'])('finds nothing at %s', async (url) => {
    expect(await files.list(url)).toEqual(MISSING);
  });

  it('rejects over entriesMax', async () => {
    const narrow = new Files({ folder: base, entriesMax: 2 });
    expect(await narrow.list('nf://sub')).toMatchObject({ found: true });
    await expect(narrow.list('nf://')).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

describe('walk', () => {
  it('names the files below a directory by readable URLs', async () => {
    const urls = ['nf://.hidden', 'nf://hello.txt', 'nf://sub/s.txt', 'nf://sub/deep/100%25.txt'];
    expect(await files.walk('nf://')).toEqual(found(urls));
    expect(await text('nf://sub/deep/100%25.txt')).toBe('deep');
    expect(await files.walk('nf://sub/')).toEqual(found(urls.slice(2)));
    expect(await files.walk('nf://none')).toEqual(MISSING);
  });

  it('follows links to files inside, no links to directories, and none out', async () => {
    await symlink('../hello.txt', join(base, 'sub/link'));
    await symlink('..', join(base, 'sub/circle'));
    await symlink('/etc/passwd', join(base, 'sub/out'));
    await symlink('nowhere', join(base, 'sub/dead'));
    expect(await files.walk('nf://sub')).toEqual(
      found(['nf://sub/link', 'nf://sub/s.txt', 'nf://sub/deep/100%25.txt']),
    );
  });

  it('leaves out names that no URL can express', async () => {
    await writeFile(join(base, 'sub/a\\b'), '');
    await writeFile(join(base, 'sub/deep/c:x'), '');
    expect(await files.walk('nf://sub')).toEqual(
      found(['nf://sub/s.txt', 'nf://sub/deep/100%25.txt', 'nf://sub/deep/c:x']),
    );
  });

  it('rejects over entriesMax', async () => {
    await expect(new Files({ folder: base, entriesMax: 3 }).walk('nf://')).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

describe('details', () => {
  it('are size and MD5', async () => {
    expect(await files.details('nf://hello.txt')).toEqual(found({ md5: md5('hello norfab\n'), size: 13 }));
    expect(await files.details('nf://.hidden')).toEqual(found({ md5: md5(''), size: 0 }));
  });

  it('of a file of several blocks cover all of it', async () => {
    const content = 'x'.repeat(700_001);
    await writeFile(join(base, 'big'), content);
    expect(await files.details('nf://big')).toEqual(found({ md5: md5(content), size: 700_001 }));
  });

  it('are remembered while size and modification time stay, and computed again if one differs', async () => {
    const path = join(base, 'hello.txt');
    const then = new Date(1e12);
    await utimes(path, then, then);
    const before = await files.details('nf://hello.txt');
    await writeFile(path, 'HELLO norfab\n');
    await utimes(path, then, then);
    expect(await files.details('nf://hello.txt')).toEqual(before);
    await utimes(path, then, new Date(1e12 + 1000));
    expect(await files.details('nf://hello.txt')).toEqual(found({ md5: md5('HELLO norfab\n'), size: 13 }));
    await appendFile(path, '!');
    await utimes(path, then, new Date(1e12 + 1000));
    expect(await files.details('nf://hello.txt')).toEqual(found({ md5: md5('HELLO norfab\n!'), size: 14 }));
  });

  it('are forgotten over hashesMax, least recently used first', async () => {
    const [path, then] = [join(base, 'hello.txt'), new Date(1e12)];
    const small = new Files({ folder: base, hashesMax: 1 });
    await utimes(path, then, then);
    await small.details('nf://hello.txt');
    await small.details('nf://sub/s.txt');
    await writeFile(path, 'HELLO norfab\n');
    await utimes(path, then, then);
    expect(await small.details('nf://hello.txt')).toEqual(found({ md5: md5('HELLO norfab\n'), size: 13 }));
  });

  it.each(['nf://none', 'nf://sub', 'nf://'])('do not exist for %s', async (url) => {
    expect(await files.details(url)).toEqual(MISSING);
  });
});

describe('read', () => {
  it('gives the bytes from an offset on, and the size of the file', async () => {
    expect(await text('nf://hello.txt', 6, 6)).toBe('norfab');
    expect(await text('nf://hello.txt', 12, 6)).toBe('\n');
    expect(await files.read('nf://hello.txt', 0, 1)).toMatchObject({ value: { size: 13 } });
  });

  it('gives nothing at the end and beyond it', async () => {
    expect(await text('nf://hello.txt', 13)).toBe('');
    expect(await text('nf://hello.txt', Number.MAX_SAFE_INTEGER)).toBe('');
  });

  it('gives at most chunkMax', async () => {
    files = new Files({ folder: base, chunkMax: 5 });
    expect(await text('nf://hello.txt', 0, Number.MAX_SAFE_INTEGER)).toBe('hello');
  });

  it('decodes once', async () => {
    await writeFile(join(base, 'a b'), 'blank');
    await writeFile(join(base, '%2e'), 'percent');
    expect(await text('nf://a%20b')).toBe('blank');
    expect(await text('nf://%252e')).toBe('percent');
    expect(await text('nf://%2e')).toEqual(MISSING);
  });

  it.each([
    ['offset', -1, 1],
    ['offset', 0.5, 1],
    ['offset', NaN, 1],
    ['chunk size', 0, 0],
    ['chunk size', 0, 1.5],
  ])('rejects a wrong %s', async (what, offset, size) => {
    await expect(files.read('nf://hello.txt', offset, size)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(what) as unknown,
    });
  });

  it('a hard link is the file', async () => {
    await link(join(base, 'hello.txt'), join(base, 'hard'));
    expect(await text('nf://hard')).toBe('hello norfab\n');
  });
});

describe('bounds and life', () => {
  it('too many requests at once are refused, the others answered', async () => {
    files = new Files({ folder: base, queueMax: 2 });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => files.read('nf://hello.txt', 0, 5)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(14);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'QUEUE_FULL' });
    expect(await text('nf://hello.txt')).toBe('hello norfab\n');
  });

  it('close rejects waiting and later requests', async () => {
    const asked = Array.from({ length: 10 }, () => files.details('nf://hello.txt'));
    files.close();
    files.close();
    const results = await Promise.allSettled(asked);
    expect(results).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'CLOSED' }) as unknown,
    });
    await expect(files.list('nf://')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('check says whether there is a folder', async () => {
    await files.check();
    for (const folder of [join(base, 'none'), join(base, 'hello.txt')])
      await expect(new Files({ folder }).check()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});
