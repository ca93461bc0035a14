import { describe, expect, it } from 'vitest';
import { filesWith, INTEROP, planOf, runsOf } from '../../scripts/test-plan.mjs';
import { PACKAGES, turboTasks } from './workspace.js';

const SHORT = ['types', 'lint', 'format', 'unused', 'rules', 'test', 'build'];

describe('npm test', () => {
  it.each([
    ['npm test', [], SHORT],
    ['test:all', ['--all'], [...SHORT, 'long']],
    ['test:all -- --rest', ['--all', '--rest'], ['long']],
    ['test:all -- --rest, in the other order', ['--rest', '--all'], ['long']],
    ['test:interop', ['--interop'], ['interop']],
    ['test:all -- --interop', ['--all', '--interop'], [...SHORT, 'long', 'interop']],
    ['test:all -- --rest --interop', ['--all', '--rest', '--interop'], ['long', 'interop']],
  ])('as %s runs tasks', (_, args, tasks) => {
    expect(planOf(args)).toEqual({ tasks });
  });

  it.each([
    ['npm test -- a b -t rule', ['a', 'b', '-t', 'rule'], ['a', 'b'], ['-t', 'rule'], undefined],
    ['npm test -- -t rule', ['-t', 'rule'], [], ['-t', 'rule'], undefined],
    ['test:all -- a', ['--all', 'a'], ['a'], [], undefined],
    ['test:interop -- a', ['--interop', 'a'], ['a'], [], INTEROP],
    ['test:interop -- -t rule', ['--interop', '-t', 'rule'], [], ['-t', 'rule'], INTEROP],
  ])('as %s runs files', (_, args, patterns, options, folder) => {
    expect(planOf(args)).toEqual({ patterns, options, folder });
  });

  it.each([
    [['--rest'], '--rest needs --all'],
    [['--interop', '--rest'], '--rest needs --all'],
    [['--rest', 'a'], '--rest needs --all'],
    [['--all', '--rest', 'a'], '--rest takes no pattern'],
  ])('refuses %j with a sentence', (args, sentence) => {
    expect(planOf(args)).toEqual({ refused: expect.stringContaining(sentence) as string });
  });
});

describe('a run of tasks', () => {
  it('has the tests of packages beside builds and what waits for these', () => {
    expect(runsOf([...SHORT, 'long'], ['@proj/app-x', '@proj/tests'])).toEqual([
      ['rules', 'build', 'long', '@proj/app-x#test', '@proj/tests#test'],
      ['types', 'lint', 'format', 'unused', 'test', '--filter=!@proj/app-x', '--filter=!@proj/tests'],
    ]);
  });

  it('without tests of packages is one', () => {
    expect(runsOf(['long', 'interop'], ['@proj/tests'])).toEqual([['long', 'interop']]);
  });

  it('makes no build in both runs, for they would write the same files: of the other packages, no test waits for one', () => {
    const waiting = ['.', ...PACKAGES.map(({ dir }) => dir)].filter((dir) =>
      (turboTasks(dir)['test']?.dependsOn ?? []).some((task) => /(^|#|\^)build$/.test(task)),
    );
    expect(waiting.filter((path) => !path.startsWith('apps/'))).toEqual([]);
  });
});

describe('a pattern of interop tests', () => {
  const paths = ['tests/interop/cli/top.test.ts', 'tests/interop/mdp/a.test.ts', 'tests/interop/cli/top.ts'];

  it('chooses test files by any part of their path', () => {
    expect(filesWith(['cli/'], paths)).toEqual(['tests/interop/cli/top.test.ts']);
    expect(filesWith(['tests/interop/mdp', 'top'], paths)).toEqual(paths.slice(0, 2));
    expect(filesWith(['ppp'], paths)).toEqual([]);
  });

  it('that is missing chooses all', () => {
    expect(filesWith([], paths)).toEqual(paths.slice(0, 2));
  });
});
