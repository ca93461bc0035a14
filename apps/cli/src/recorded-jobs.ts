/** `proj jobs`: NORFAB jobs that `proj post --store` has recorded. */
import { existsSync } from 'node:fs';
import { defineCommand } from '@proj/appkit';
import { ProjError } from '@proj/client';
import type { NfpClient, NfpJobRecord } from '@proj/client/nfp';
import { jobsOptions } from './nfp-options.js';
import { lineOfResult, unlessStopped, withNfpClient } from './protocols/nfp.js';

/** Resumes jobs of earlier processes, and lists all recorded jobs. */
export const jobs = defineCommand({
  name: 'jobs',
  summary: 'Resume the NORFAB jobs of proj post --store that have no outcome yet, and list all recorded jobs.',
  options: jobsOptions,
  examples: [
    { what: 'the results of earlier jobs, as soon as they arrive', line: '--store ./jobs' },
    { what: 'their progress, as JSON', line: '--store ./jobs --no-wait --json' },
  ],
  run({ settings, stop, print }) {
    const { wait, timeoutMs, json, store } = settings;
    if (store === undefined || !existsSync(store))
      throw new ProjError(
        'OPTIONS_INVALID',
        `option --store = ${store ?? 'nothing'}: must be the folder of proj post --store`,
      );
    return withNfpClient(settings, async (client) => {
      const open = await client.start();
      if (wait) {
        const late = AbortSignal.timeout(timeoutMs);
        const ends = Promise.allSettled(open.map((job) => job.done()));
        await unlessStopped(ends, AbortSignal.any([stop, late])).catch((error: unknown) => {
          if (stop.aborted) throw error;
        });
      }
      const records = await recordsOf(client);
      for (const record of records) for (const line of linesOf(record, json)) print(line);
      return exitCodeOf(records, wait);
    });
  },
});

/** Oldest first. */
async function recordsOf(client: NfpClient): Promise<NfpJobRecord[]> {
  const records: NfpJobRecord[] = [];
  for await (const record of client.jobs()) records.push(record);
  return records.sort((a, b) => a.postedAt - b.postedAt);
}

function linesOf(record: NfpJobRecord, json: boolean): string[] {
  if (json) return [JSON.stringify(record)];
  const { uuid, state, service, task, errors, results } = record;
  const why = errors.length === 0 ? '' : `: ${errors.join(', ')}`;
  return [`${uuid} ${state} ${service} ${task}${why}`, ...results.map((result) => `  ${lineOfResult(result, false)}`)];
}

/** 3 if a job got no outcome in time, 1 if one has failed. */
function exitCodeOf(records: readonly NfpJobRecord[], wait: boolean): number {
  const isOpen = ({ endedAt }: NfpJobRecord): boolean => endedAt === undefined;
  if (records.some(({ state }) => state === 'STALE') || (wait && records.some(isOpen))) return 3;
  return records.some(({ state }) => state === 'FAILED') ? 1 : 0;
}
