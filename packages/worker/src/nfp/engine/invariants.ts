/** What must hold between the books of an NFP worker after each step. Throws; our own bugs only. */
import type { NfpJob } from './job.js';
import type { NfpJobs } from './jobs.js';

/** `leaving`: interrupted jobs are neither in the queue nor running. Linear in the number of jobs. */
export function assertNfpJobs(jobs: NfpJobs, runs: ReadonlyMap<number, NfpJob>, busy: number, leaving: boolean): void {
  // Words are put together for what is wrong only: this runs after every step of every test.
  const check = (holds: boolean, what: string, job?: NfpJob): void => {
    if (!holds) throw new Error(`NfpJobs: ${job === undefined ? '' : `${job.uuid} `}${what}`);
  };
  const queue = new Set(jobs.queue());
  const counts = { PENDING: 0, STARTED: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 };
  let slots = 0;
  let kept = 0;
  for (const job of jobs.values()) {
    counts[job.state]++;
    if (job.run !== undefined) slots++;
    if (job.expiry.list !== undefined) kept++;
    check(jobs.get(job.uuid) === job, 'a job under the name of another');
    check(queue.has(job) === (job.state === 'PENDING' && job.change === undefined), 'waits or not', job);
    check(job.parked === undefined || job.change !== undefined, 'has calls that wait for nothing', job);
    check(job.expiry.list === undefined || job.isFinal, 'may expire before its end', job);
    check(!job.isFinal || job.change === 'remove' || job.expiry.list !== undefined, 'never expires', job);
    check(job.input === undefined || (job.run !== undefined && runs.has(job.run)), 'asks and does not run', job);
    const atWork = job.state !== 'STARTED' || job.change === 'finish' || job.run !== undefined;
    check(leaving || atWork, 'is started and nobody works at it', job);
  }
  for (const [run, job] of runs) check(job.run === run && job.state === 'STARTED', 'is in a run and not started', job);
  check(JSON.stringify(counts) === JSON.stringify(jobs.counts), 'miscounted states');
  check(slots === busy, `${slots} slots are taken, not ${busy}`);
  check(queue.size === jobs.waiting, 'miscounted queue');
  check(kept === jobs.finished, 'miscounted results');
}
