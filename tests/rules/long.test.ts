/** What `npm test` leaves out, `npm run test:all` runs; nothing is forgotten, and nothing runs in both. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONGEST } from '../longest.js';
import { allTestFiles, ROOT } from './workspace.js';

/** The scripts of the package that contains a file. */
function scriptsBeside(path: string): Record<string, string> {
  const manifest = join(ROOT, dirname(path), 'package.json');
  if (!existsSync(manifest)) return scriptsBeside(dirname(path));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { scripts: Record<string, string> }).scripts;
}

describe('long tests', () => {
  const files = allTestFiles();
  const long = files.filter(({ path }) => path.endsWith('.long.test.ts')).map(({ path }) => path);
  // Their length is a number; the script's environment runs the rest of the seeds.
  const shared = files.filter(({ text }) => /^const SEEDS = seedsToRun\(/m.test(text)).map(({ path }) => path);

  it('there are some', () => {
    expect(shared.length).toBeGreaterThan(4);
  });

  it.each(LONGEST)('tests/%s, which is to begin first, is there', (path) => {
    expect(files.map((file) => file.path)).toContain(`tests/${path}`);
  });

  it.each(long)('npm test leaves out %s', (path) => {
    const { test, rules } = scriptsBeside(path);
    for (const script of [test, rules]) expect(script ?? '').toMatch(/^$|^PROJ_LONG=0 /);
  });

  it.each([...long, ...shared])('npm run test:all runs %s: the script long of its package selects it', (path) => {
    const words = (scriptsBeside(path)['long'] ?? '').split(' ');
    expect(words.filter((word) => word.endsWith('test') && path.includes(word))).not.toEqual([]);
  });
});
