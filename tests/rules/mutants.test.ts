/** `npm run mutants` takes an hour and runs rarely, but a change of the code that it breaks must not go unnoticed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PACKAGES, ROOT } from './workspace.js';

interface Mutant {
  readonly what: string;
  readonly file: string;
  readonly find: string;
}

const dirs = PACKAGES.map(({ dir }) => dir).filter((dir) => existsSync(join(ROOT, dir, 'mutants.json')));

it.each(dirs)('every mutant of %s finds what it breaks, exactly once', (dir) => {
  const read = (file: string) => readFileSync(join(ROOT, dir, file), 'utf8');
  const mutants = JSON.parse(read('mutants.json')) as readonly Mutant[];
  const stale = mutants.filter(({ file, find }) => read(file).split(find).length !== 2);
  expect(stale.map(({ what }) => what)).toEqual([]);
});
