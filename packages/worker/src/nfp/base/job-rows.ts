/** The jobs of an NFP worker as the task `job_list` shows them. */
import { cTime, nfpNameOf } from '@proj/frames/nfp';
import type { NfpJobState } from '../engine/events.js';
import type { NfpJob, NfpJobs } from '../engine/state.js';

/** Maximum rows of one list. */
const ROWS_MAX = 10_000;

/** A job. Keys and times in NORFAB's form; `null` if unknown or in the future. */
export interface NfpJobRow {
  readonly uuid: string;
  readonly client_address: string;
  readonly task: string;
  readonly state: NfpJobState;
  readonly received_timestamp: string | null;
  readonly started_timestamp: string | null;
  readonly completed_timestamp: string | null;
  /** Seconds. */
  readonly timeout: number;
}

/** The filter. With `uuid`, only that job, whatever else is set. */
export interface NfpJobFilter {
  /** Jobs without a result. Default true. */
  readonly pending?: boolean | undefined;
  /** Jobs with a result. Default true. */
  readonly completed?: boolean | undefined;
  readonly task?: string | undefined;
  readonly client?: string | undefined;
  /** Only this many of the newest; at most 10,000. */
  readonly last?: number | undefined;
  readonly uuid?: string | undefined;
}

/** Newest first. The cost is linear in the number of jobs. */
export function jobRows(jobs: Pick<NfpJobs, 'get' | 'values'>, filter: NfpJobFilter): NfpJobRow[] {
  const { pending = true, completed = true, task, client, last = ROWS_MAX, uuid } = filter;
  if (uuid !== undefined) {
    const job = jobs.get(uuid);
    return job === undefined ? [] : [rowOf(job)];
  }
  const max = Math.min(last, ROWS_MAX);
  const rows: NfpJobRow[] = [];
  // In the order of acceptance.
  const all = [...jobs.values()];
  for (let index = all.length - 1; index >= 0 && rows.length < max; index--) {
    const job = all[index] as NfpJob;
    if (!(job.isFinal ? completed : pending) || (task !== undefined && job.task !== task)) continue;
    if (client === undefined || client === clientOf(job)) rows.push(rowOf(job));
  }
  return rows;
}

function rowOf(job: NfpJob): NfpJobRow {
  const { uuid, task, shownState: state, isFinal, receivedAt, startedAt, endedAt, timeoutMs } = job;
  return {
    uuid,
    client_address: clientOf(job),
    task,
    state,
    received_timestamp: timeOf(receivedAt),
    started_timestamp: timeOf(startedAt),
    completed_timestamp: isFinal ? cTime(endedAt) : null,
    timeout: timeoutMs / 1000,
  };
}

function clientOf({ replyTo }: NfpJob): string {
  return replyTo === undefined ? '' : nfpNameOf(replyTo);
}

function timeOf(wallMs: number): string | null {
  return wallMs === 0 ? null : cTime(wallMs);
}
