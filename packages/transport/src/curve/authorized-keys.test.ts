import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authorizedKeys, encodeZ85, generateCurveKeys, writeCertificate } from './index.js';
import type { AuthorizedKeys, AuthorizedKeysOptions } from './index.js';

const [ADA, BOB] = [generateCurveKeys(), generateCurveKeys()];

let folder: string;
const lists: AuthorizedKeys[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authorized-'));
});
afterEach(async () => {
  for (const list of lists.splice(0)) list.close();
  await rm(folder, { recursive: true, force: true });
});

async function listOf(path: string, options: AuthorizedKeysOptions = { watch: false }): Promise<AuthorizedKeys> {
  const list = await authorizedKeys(path, options);
  lists.push(list);
  return list;
}

const admitted = (list: AuthorizedKeys) => [ADA, BOB].map(({ publicKey }) => list.has(publicKey));

describe('a folder', () => {
  it('rule 53: admits the keys of its certificates, and reads no other files', async () => {
    await writeCertificate(join(folder, 'ada'), ADA);
    await writeFile(join(folder, 'README'), 'no key');

    expect(admitted(await listOf(folder))).toEqual([true, false]);
  });

  it('admits nobody while it is empty', async () => {
    expect(admitted(await listOf(folder))).toEqual([false, false]);
  });

  it('rule 53: is read again when a key is added and when one is removed', async () => {
    await writeCertificate(join(folder, 'ada'), ADA);
    const change = new Changes();
    const list = await listOf(folder, change.options);
    await writeCertificate(join(folder, 'bob'), BOB);
    await change.until(() => list.size === 2);
    expect(admitted(list)).toEqual([true, true]);
    await rm(join(folder, 'ada.key'));
    await change.until(() => list.size === 1);

    expect(admitted(list)).toEqual([false, true]);
  });

  it('keeps its keys when something in it cannot be read, and reports it', async () => {
    await writeCertificate(join(folder, 'ada'), ADA);
    const change = new Changes();
    const list = await listOf(folder, change.options);
    await writeFile(join(folder, 'broken.key'), 'no key');
    await change.until(() => change.errors.length > 0);

    expect(change.errors[0]).toContain('broken.key');
    expect(admitted(list)).toEqual([true, false]);
  });
});

describe('the path is what is followed', () => {
  const swapped: [how: string, swap: (path: string, next: string, turn: number) => Promise<void>][] = [
    [
      'a link that is switched',
      async (path, next) => {
        await symlink(next, `${path}.new`);
        await rename(`${path}.new`, path);
      },
    ],
    [
      'a folder that is moved away, twice',
      async (path, next, turn) => {
        await rename(path, `${path}.${turn}`);
        await rename(next, path);
      },
    ],
  ];

  it.each(swapped)('%s: the earlier keys are gone', async (_how, swap) => {
    const path = join(folder, 'keys');
    await mkdir(join(folder, 'first'));
    await writeCertificate(join(folder, 'first', 'ada'), ADA);
    if (_how.startsWith('a link')) await symlink('first', path);
    else await rename(join(folder, 'first'), path);
    const change = new Changes();
    const list = await listOf(path, change.options);
    const told: number[] = [];
    list.onChange(() => told.push(list.size));
    for (const [turn, keys] of [BOB, ADA].entries()) {
      const next = join(folder, `next${turn}`);
      await mkdir(next);
      await writeCertificate(join(next, 'key'), keys);
      await swap(path, next, turn);
      await change.until(() => list.has(keys.publicKey) && list.size === 1);
    }

    expect(admitted(list)).toEqual([true, false]);
    expect(told).toEqual([1, 1]);
    expect(change.errors.filter((error) => !error.includes('ENOENT'))).toEqual([]);
  });

  it('a certificate that has become a link to another file is read again', async () => {
    await mkdir(join(folder, 'keys'));
    await writeCertificate(join(folder, 'ada'), ADA);
    await writeCertificate(join(folder, 'bob'), BOB);
    await symlink('../ada.key', join(folder, 'keys', 'one.key'));
    await symlink('link', join(folder, 'keys', 'two.key'));
    await symlink('../ada.key', join(folder, 'keys', 'link'));
    const change = new Changes();
    const list = await listOf(join(folder, 'keys'), change.options);
    expect(admitted(list)).toEqual([true, false]);
    await rename(join(folder, 'bob.key'), join(folder, 'ada.key'));
    await change.until(() => list.has(BOB.publicKey));

    expect(admitted(list)).toEqual([false, true]);
  });
});

describe('a list', () => {
  const line = ({ publicKey }: typeof ADA, rest = '') => `${encodeZ85(publicKey)}${rest}\n`;

  it('rule 53: admits the key of each line, whatever follows it', async () => {
    const path = join(folder, 'keys');
    await writeFile(path, `# our people\n\n${line(ADA, '  ada')}${line(BOB)}`);

    expect(admitted(await listOf(path))).toEqual([true, true]);
  });

  it('may be a certificate', async () => {
    const { publicFile } = await writeCertificate(join(folder, 'bob'), BOB);

    expect(admitted(await listOf(publicFile))).toEqual([false, true]);
  });

  it('is read again when it is replaced by another file', async () => {
    const path = join(folder, 'keys');
    await writeFile(path, line(ADA));
    const change = new Changes();
    const list = await listOf(path, change.options);
    await writeFile(`${path}.new`, line(BOB));
    await rename(`${path}.new`, path);
    await change.until(() => list.has(BOB.publicKey));

    expect(admitted(list)).toEqual([false, true]);
  });

  it('is read again on demand, and stays as it was when that fails', async () => {
    const path = join(folder, 'keys');
    await writeFile(path, line(ADA));
    const list = await listOf(path);
    await writeFile(path, line(BOB));
    await list.reload();
    expect(admitted(list)).toEqual([false, true]);
    await writeFile(path, 'no key\n');
    await expect(list.reload()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await rm(path);
    await expect(list.reload()).rejects.toThrow('ENOENT');

    expect(admitted(list)).toEqual([false, true]);
  });

  it('has a limit', async () => {
    const path = join(folder, 'keys');
    await writeFile(path, line(ADA) + line(BOB));

    await expect(authorizedKeys(path, { watch: false, keysMax: 1 })).rejects.toThrow('has 2 keys; the limit is 1');
  });
});

it('a path that does not exist is refused at the start', async () => {
  await expect(authorizedKeys(join(folder, 'absent'))).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
});

it('a closed list is not read again', async () => {
  await mkdir(join(folder, 'clients'));
  const change = new Changes();
  const list = await listOf(join(folder, 'clients'), change.options);
  const witness = await listOf(join(folder, 'clients'), change.options);
  list.close();
  await writeCertificate(join(folder, 'clients', 'ada'), ADA);
  await change.until(() => witness.size === 1);

  expect(list.size).toBe(0);
});

/** Waits for what the system reports about a folder. */
class Changes {
  readonly errors: string[] = [];
  #wake: () => void = () => undefined;

  readonly options: AuthorizedKeysOptions = {
    onReload: () => {
      this.#wake();
    },
    onError: (error) => {
      this.errors.push(error.message);
      this.#wake();
    },
  };

  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
