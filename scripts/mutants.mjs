#!/usr/bin/env node
// Breaks a package on purpose, one small change at a time, in a copy beside it, and says which of them its tests notice. The changes
// are those of `mutants.json` of the package. Usage: npm run mutants -- PACKAGE [WORD], the word being part of what is broken.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Fewer are a failure, in hundredths. */
const WANTED = 90;
const PACKAGES = fileURLToPath(new URL('../packages/', import.meta.url));
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
/** A change that makes tests wait for ever is noticed as well. */
const TIMEOUT_MS = 180_000;
const OWN = new Set(['dist', 'reports', '.turbo']);

const [name = '', word = ''] = process.argv.slice(2);
const folder = join(PACKAGES, name);
const list = read(name).filter(({ what }) => what.includes(word));
// Beside the package, so that the links to its siblings stay right.
const copy = join(PACKAGES, `.mutant-${name}-${process.pid}`);
cpSync(folder, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !OWN.has(basename(path)) });
try {
  if (!passes([...new Set(list.flatMap(({ tests }) => tests))], 'inherit'))
    fail(`the tests of ${name} fail, with nothing broken yet`);
  const survivors = list.filter((mutant) => !isKilled(mutant));
  const score = Math.floor((100 * (list.length - survivors.length)) / list.length);
  for (const { file, what } of survivors) console.log(`survived: ${file}: ${what}`);
  console.log(`${name}: ${list.length - survivors.length} of ${list.length} noticed, ${score} %`);
  process.exitCode = score < WANTED ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true });
}

function read(wanted) {
  try {
    return JSON.parse(readFileSync(join(PACKAGES, wanted, 'mutants.json'), 'utf8'));
  } catch (error) {
    return fail(`no list of mutants for package "${wanted}" (${error.message}): npm run mutants -- PACKAGE`);
  }
}

function isKilled({ file, find, put, tests, what }) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) fail(`${file}: must hold exactly once, to break it: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => put),
  );
  const killed = !passes(tests);
  writeFileSync(path, source);
  console.log(`${killed ? 'noticed' : 'SURVIVED'}: ${what}`);
  return killed;
}

/** With `tests` as parts of their paths; none is all. */
function passes(tests, stdio = 'ignore') {
  const args = [VITEST, 'run', '--bail', '1', '--reporter', 'dot', ...tests];
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio, timeout: TIMEOUT_MS });
  return status === 0;
}

function fail(text) {
  console.error(`mutants: ${text}`);
  rmSync(copy, { recursive: true, force: true });
  process.exit(1);
}
