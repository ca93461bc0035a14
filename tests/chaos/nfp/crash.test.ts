// The worker is killed with many jobs in its queue: accepted jobs are on disk, and all of them end.
import { expect, it } from 'vitest';
import { stage } from './stage.js';
import type { JobClient, JobResult } from './stage.js';

const JOBS = 100;
const CONCURRENCY = 2;

const theater = stage();

/** Results of all accepted jobs; fails on the first missing one. */
async function resultsOf(client: JobClient): Promise<JobResult[]> {
  const results: JobResult[] = [];
  for (const uuid of client.accepted) {
    const result = await client.result(uuid);
    expect(result, `${uuid} was accepted but is gone`).toBeDefined();
    if (result !== undefined) results.push(result);
  }
  return results;
}

it('rules 4 and 12: a worker killed with 100 jobs in hand does them all after a restart', async () => {
  const at = await theater.broker();
  const store = `lmdb:${await theater.folder()}`;
  const first = await theater.worker(at, store, { concurrency: CONCURRENCY });
  const client = await theater.client(at.endpoint);
  for (let n = 0; n < JOBS; n++) client.post(`job-${n}`, 'sleep', [20]);
  await Promise.race([client.acceptedSoMany(JOBS), first.lost()]);
  await theater.kill(at.broker, first);
  await theater.worker(at, store, { concurrency: CONCURRENCY });
  const results = await resultsOf(client);
  expect(results).toHaveLength(JOBS);
  expect(results.filter(({ failed }) => failed)).toEqual([]);
});

it('rule 12: with crash policy fail, only running jobs have failed', async () => {
  const at = await theater.broker();
  const store = `lmdb:${await theater.folder()}`;
  const flags = { concurrency: CONCURRENCY, 'crash-policy': 'fail' };
  const first = await theater.worker(at, store, flags);
  const client = await theater.client(at.endpoint);
  // These two run until the kill; all others wait behind them.
  for (let n = 0; n < CONCURRENCY; n++) client.post(`long-${n}`, 'sleep', [86_400_000]);
  await Promise.race([client.acceptedSoMany(CONCURRENCY), first.lost()]);
  for (let n = 0; n < JOBS; n++) client.post(`job-${n}`, 'echo', [n]);
  await Promise.race([client.acceptedSoMany(CONCURRENCY + JOBS), first.lost()]);
  await theater.kill(at.broker, first);
  await theater.worker(at, store, flags);
  const results = await resultsOf(client);
  expect(results).toHaveLength(CONCURRENCY + JOBS);
  const failed = results.filter((result) => result.failed);
  expect(failed.map(({ errors }) => errors)).toEqual(Array(CONCURRENCY).fill(['interrupted']));
});

it('rules 4 and 12: no accepted job vanishes when the worker is killed five times while it works', async () => {
  const at = await theater.broker();
  const store = `lmdb:${await theater.folder()}`;
  const client = await theater.client(at.endpoint);
  for (let round = 1; round <= 5; round++) {
    const worker = await theater.worker(at, store, { concurrency: CONCURRENCY });
    for (let n = 0; n < JOBS; n++) client.post(`job-${round}-${n}`, 'sleep', [2]);
    // Some jobs of this round are accepted, some of all rounds are done; which ones depends on the machine.
    const progress = Promise.all([client.acceptedSoMany(40 * round), client.completedSoMany(20 * round)]);
    await Promise.race([progress, worker.lost()]);
    await theater.kill(at.broker, worker);
  }
  await theater.worker(at, store, { concurrency: CONCURRENCY });
  const results = await resultsOf(client);
  const { size } = client.accepted;
  const interrupted = results.filter(({ failed }) => failed).length;
  console.log(
    `5 kills: ${size} jobs accepted, ${results.length} ended, ${interrupted} of them interrupted three times`,
  );
  expect(results).toHaveLength(size);
  expect(results.filter(({ failed, errors }) => failed && errors[0] !== 'interrupted')).toEqual([]);
  expect(size).toBeGreaterThanOrEqual(200);
});
