import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listTextFiles } from './corpus.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'));
  mkdirSync(join(folder, 'a/node_modules'), { recursive: true });
  writeFileSync(join(folder, 'a/text.txt'), 'hällo\n');
  writeFileSync(join(folder, 'a/node_modules/x.js'), 'x');
  writeFileSync(join(folder, 'empty'), '');
  writeFileSync(join(folder, 'image'), Buffer.from([1, 0, 2]));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('walks the folder if there is no repository', async () => {
  expect(await listTextFiles(folder)).toEqual([
    { path: join('a', 'text.txt'), bytes: 7 },
    { path: 'empty', bytes: 0 },
  ]);
});

it('takes the files that git tracks if there is a repository, without deleted ones', async () => {
  symlinkSync('a', join(folder, 'link'));
  writeFileSync(join(folder, 'gone'), 'x');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '-q');
  git('add', 'a/text.txt', 'image', 'gone', 'link');
  rmSync(join(folder, 'gone'));
  expect(await listTextFiles(folder)).toEqual([{ path: 'a/text.txt', bytes: 7 }]);
});
