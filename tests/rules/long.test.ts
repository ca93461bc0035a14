/** What `npm test` leaves out, `npm run test:all` runs; nothing is forgotten, and nothing runs in both. */
import { exec } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LONGEST } from '../longest.js';
import { allTestFiles, PACKAGES, ROOT, turboTasks } from './workspace.js';

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

describe('a script that loads siblings as they are built', () => {
  const packages = [
    { dir: 'tests', name: '@proj/tests' },
    ...PACKAGES.map(({ dir, manifest }) => ({ dir, name: manifest.name })),
  ];
  const scripts = packages.flatMap(({ dir, name }) =>
    Object.entries(scriptsBeside(`${dir}/package.json`))
      .filter(([, command]) => command.includes('PROJ_BUILT=1'))
      .map(([script]) => ({ dir, name, script })),
  );

  it.each(scripts)('$script of $dir waits for them', ({ dir, name, script }) => {
    const task = turboTasks(dir)[script] ?? turboTasks('.')[`${name}#${script}`];
    expect(task?.dependsOn).toContain('^build');
  });
});

describe('the scripts of tests', () => {
  const cwd = join(ROOT, 'tests');
  const PATH = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`;

  /** What a command of vitest runs: `[project] path`. */
  async function filesOf(command: string): Promise<string[]> {
    const { PROJ_LONG: _, ...env } = process.env;
    const listing = command
      .replace(/^.*&& /, '')
      .replace('vitest run', 'vitest list --filesOnly')
      .replaceAll(/ --(reporter|outputFile\S*|maxWorkers)=\S+/g, '');
    const { stdout } = await promisify(exec)(listing, { cwd, env: { ...env, PATH } });
    return stdout.trim().split('\n');
  }

  it('run each file on each transport that it is for, once, but for seeds', async () => {
    const scripts = scriptsBeside('tests/package.json');
    const all = await filesOf('vitest run --config vitest.both.config.ts');
    const run = (
      await Promise.all(['rules', 'test', 'long', 'interop'].map((name) => filesOf(scripts[name] ?? '')))
    ).flat();
    // The script `rules` has one project, which it does not name.
    const named = run.map((line) => (line.startsWith('[') ? line : `[tests] ${line}`));
    expect([...new Set(named)].sort()).toEqual(all.sort());
    const again = named.filter((line, at) => named.indexOf(line) < at);
    expect(again.filter((line) => !/ (simulation\/\w+|example\/tiny)\.test\.ts$/.test(line))).toEqual([]);
  });
});
