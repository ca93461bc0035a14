import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accessFile } from './index.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'access-'));
  path = join(folder, 'access.json');
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Atomically, so that nobody reads half of it. */
async function write(text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

it('is read, and again when it changes', async () => {
  await write('[]');
  let onRules: (rules: unknown) => void = () => undefined;
  const changed = new Promise<unknown>((resolve) => (onRules = resolve));
  const file = await accessFile(path, { onReload: (rules) => onRules(rules) });
  expect(file.rules).toEqual([]);
  await write('[{ "keys": "*" }]');
  expect(await changed).toEqual([{ keys: '*' }]);
  file.close();
});

it('reports a file that is no longer JSON, or that its user refuses', async () => {
  await write('[]');
  let onError: (error: Error) => void = () => undefined;
  const failure = () => new Promise<Error>((resolve) => (onError = resolve));
  const file = await accessFile(path, {
    onReload: () => {
      throw new Error('not these');
    },
    onError: (error) => onError(error),
  });
  let failed = failure();
  await write('no json');
  expect((await failed).message).toContain('must be JSON');
  failed = failure();
  await rm(path);
  expect((await failed).message).toContain('ENOENT');
  file.close();
});

it('is refused at the start when it is missing or not JSON', async () => {
  await expect(accessFile(path)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  await write('{');
  await expect(accessFile(path)).rejects.toThrow('must be JSON');
});
