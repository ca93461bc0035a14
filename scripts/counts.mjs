// How many checks a task of a turbo run passed and failed.

/** Of one vitest JSON report. A file that did not load is one failure, whatever it would have held. */
export function countReport(report) {
  const unloaded = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloaded.length };
}

/**
 * Of one task of a turbo run summary: as its report says if it wrote one, else it is one check itself. A task that failed
 * or never ran has failed at least once, whatever its report says. To have built something is no check.
 */
export function countTask(task, report) {
  const ok = task.execution?.exitCode === 0;
  const itself = { passed: ok && task.task !== 'build' ? 1 : 0, failed: 0 };
  const { passed, failed } = report === undefined ? itself : countReport(report);
  return { id: task.taskId, passed, failed: ok ? failed : Math.max(failed, 1) };
}
