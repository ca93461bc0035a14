// How many checks a task of a turbo run passed and failed, and which.

/** Of one vitest JSON report. A file that did not load is one failure, whatever it would have held. */
export function countReport(report) {
  const unloaded = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloaded.length };
}

const BUILDS = ['build', 'declarations'];

/**
 * Of one task of a turbo run summary: as its report says if it wrote one, else it is one check itself. A task that failed
 * or never ran has failed at least once, whatever its report says. To have built something is no check.
 */
export function countTask(task, report) {
  const ok = task.execution?.exitCode === 0;
  const itself = { passed: ok && !BUILDS.includes(task.task) ? 1 : 0, failed: 0 };
  const { passed, failed } = report === undefined ? itself : countReport(report);
  return { id: task.taskId, passed, failed: ok ? failed : Math.max(failed, 1) };
}

/** What failed in a report: a line with the title of each test and the head of its message, or with a file that did not load. */
export function failuresOf(report) {
  return report.testResults.flatMap((file) => {
    if (file.status !== 'failed') return [];
    const tests = file.assertionResults.filter((test) => test.status === 'failed');
    if (tests.length === 0) return [`${file.name}: ${headOf(file.message)}`];
    return tests.map((test) => `${file.name} > ${test.fullName}: ${headOf(test.failureMessages.join('\n'))}`);
  });
}

const HEAD_LINES = 6;
const headOf = (message) => message.split('\n').slice(0, HEAD_LINES).join('\n    ');
