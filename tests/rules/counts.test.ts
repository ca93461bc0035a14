import { describe, expect, it } from 'vitest';
import { countReport, countTask, failuresOf } from '../../scripts/counts.mjs';

const loaded = { status: 'passed', assertionResults: [{}] };
const report = {
  numPassedTests: 7,
  numFailedTests: 2,
  testResults: [loaded, { status: 'failed', assertionResults: [{}] }],
};
const green = { numPassedTests: 7, numFailedTests: 0, testResults: [loaded] };
const task = (exitCode?: number | null, name = 'test') => ({
  taskId: `@proj/x#${name}`,
  task: name,
  ...(exitCode === undefined ? {} : { execution: { exitCode } }),
});

describe('the sum at the end of npm test', () => {
  it('takes tests from a report', () => {
    expect(countReport(report)).toEqual({ passed: 7, failed: 2 });
  });

  it('counts a test file that did not load as one failure', () => {
    const testResults = [loaded, { status: 'failed', assertionResults: [] }];
    expect(countReport({ ...green, testResults })).toEqual({ passed: 7, failed: 1 });
  });

  it('counts a task without a report as one check', () => {
    expect(countTask(task(0))).toEqual({ id: '@proj/x#test', passed: 1, failed: 0 });
    expect(countTask(task(2))).toEqual({ id: '@proj/x#test', passed: 0, failed: 1 });
  });

  it.each(['build', 'declarations'])('counts %s only if it failed', (name) => {
    expect(countTask(task(0, name))).toMatchObject({ passed: 0, failed: 0 });
    expect(countTask(task(1, name))).toMatchObject({ passed: 0, failed: 1 });
  });

  it('counts a task by its report', () => {
    expect(countTask(task(0), green)).toMatchObject({ passed: 7, failed: 0 });
    expect(countTask(task(1), report)).toMatchObject({ passed: 7, failed: 2 });
  });

  it('counts a task that failed as a failure although its report is green', () => {
    expect(countTask(task(1), green)).toMatchObject({ passed: 7, failed: 1 });
  });

  it.each([undefined, null])('counts a task that never ran or was killed as a failure (exit code %s)', (exitCode) => {
    expect(countTask(task(exitCode))).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('what npm test prints at its end about failures', () => {
  const passed = { status: 'passed', fullName: 'it works', failureMessages: [] };
  const failed = {
    status: 'failed',
    fullName: 'it fails',
    failureMessages: ['AssertionError: 1 is not 2\n at x.ts:1'],
  };

  it('has the file, the title and the first line of the message of each failed test', () => {
    const file = { name: 'x.test.ts', status: 'failed', message: '', assertionResults: [passed, failed] };
    expect(failuresOf({ testResults: [file] })).toEqual([
      'x.test.ts > it fails: AssertionError: 1 is not 2\n     at x.ts:1',
    ]);
  });

  it('has each file that did not load', () => {
    const file = { name: 'x.test.ts', status: 'failed', message: 'no such module', assertionResults: [] };
    expect(failuresOf({ testResults: [file] })).toEqual(['x.test.ts: no such module']);
  });

  it('omits what passed, and shortens long messages', () => {
    const long = { ...failed, failureMessages: ['line\n'.repeat(100)] };
    const file = { name: 'x.test.ts', status: 'failed', message: '', assertionResults: [long] };
    const green = { name: 'y.test.ts', status: 'passed', message: '', assertionResults: [passed] };
    expect(failuresOf({ testResults: [green, file] }).map((line) => line.split('\n').length)).toEqual([6]);
  });
});
