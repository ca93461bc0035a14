/** What must hold between the jobs and slots of an NFP worker after each step. */
import { checksOf } from '../../shared/invariants.js';
import type { NfpJob, NfpJobs, Slots } from './state.js';

const check = checksOf('NfpJobs');

/** `isLeaving`: interrupted jobs are neither in the queue nor running. Linear in the number of jobs. */
export function assertNfpJobs(jobs: NfpJobs, { running, taken, max }: Slots, isLeaving: boolean): void {
  // Texts are built only when something is wrong: this runs after every step of every test.
  const checkJob = (holds: boolean, job: NfpJob, what: string): void => {
    if (!holds) check(false, `${job.uuid} ${what}`);
  };
  const queue = new Set(jobs.queue());
  const counts = { PENDING: 0, STARTED: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 };
  let slots = 0;
  let kept = 0;
  for (const job of jobs.values()) {
    counts[job.state]++;
    if (job.run !== undefined) slots++;
    if (job.expiry.list !== undefined) kept++;
    checkJob(jobs.get(job.uuid) === job, job, 'stands under the name of another');
    checkJob(queue.has(job) === (job.state === 'PENDING' && job.change === undefined), job, 'waits or not');
    checkJob(job.parked === undefined || job.change !== undefined, job, 'has calls that wait for nothing');
    checkJob(job.expiry.list === undefined || job.isFinal, job, 'may expire before its end');
    checkJob(!job.isFinal || job.change === 'remove' || job.expiry.list !== undefined, job, 'never expires');
    checkJob(job.input === undefined || (job.run !== undefined && running.has(job.run)), job, 'asks and does not run');
    const isAtWork = job.state !== 'STARTED' || job.change === 'finish' || job.run !== undefined;
    checkJob(isLeaving || isAtWork, job, 'is started and nobody works at it');
  }
  for (const [run, job] of running)
    checkJob(job.run === run && job.state === 'STARTED', job, 'is in a run and not started');
  check(JSON.stringify(counts) === JSON.stringify(jobs.counts), 'miscounted states');
  check(slots === taken && taken <= max && running.size <= taken, `${slots} of ${max} slots are taken, not ${taken}`);
  check(queue.size === jobs.waiting, 'miscounted queue');
  check(kept === jobs.finished, 'miscounted results');
}
