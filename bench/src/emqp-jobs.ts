/** What the job manager under test runs: nothing, so that only its own work is measured. */
export default { 'bench.noop': (): null => null };
