// The client is killed between POST and GET: what it posted is on its disk, and the next client fetches the results.
import { expect, it } from 'vitest';
import { script } from '../programs.js';
import { stage } from './stage.js';

const JOBS = 20;

const theater = stage();

it('rule 8: a client killed between POST and GET gets the results of all its jobs after a restart', async () => {
  const at = await theater.broker();
  const worker = await theater.worker(at, 'memory:');
  const folder = await theater.folder();
  const client = (count: number) =>
    theater.launch(script('nfp/fixtures/posting-client.mjs', [], [at.endpoint, folder, `${count}`]));
  // There is no result before the client is dead.
  worker.kill('SIGSTOP');
  const first = client(JOBS);
  await first.line('dispatched');
  first.kill('SIGKILL');
  await first.exit;
  worker.kill('SIGCONT');
  const second = client(0);
  expect(await second.line('started')).toMatchObject({ found: JOBS });
  const { results } = (await second.line('done')) as {
    results?: { uuid: string; worker: string; failed: boolean }[];
  };
  expect(results?.map(({ uuid }) => uuid).sort()).toEqual(Array.from({ length: JOBS }, (_, n) => `job-${n}`).sort());
  expect(results?.filter(({ worker: name, failed }) => failed || name !== 'sample-1')).toEqual([]);
  expect(await second.exit).toMatchObject({ code: 0 });
});
