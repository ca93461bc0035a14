/** The job that the job manager under test runs: it does nothing, so that only the manager's work is measured. */
export default { 'bench.noop': (): null => null };
