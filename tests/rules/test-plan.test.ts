import { describe, expect, it } from 'vitest';
import { filesWith, INTEROP, planOf } from '../../scripts/test-plan.mjs';

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
