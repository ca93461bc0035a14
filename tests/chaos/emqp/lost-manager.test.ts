// A job manager is killed with guaranteed jobs in hand: another one does them, and the client gets each result exactly
// once (docs/protocols/emqp.md, rules 17 and 20 of the broker).
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stage } from './stage.js';

const theater = stage();
const NAMES = ['a', 'b', 'c', 'd'];
const ASKED = { replyRequested: true, guarantee: true } as const;

it('when it is killed, another one does its jobs, each result comes once, and none of its processes is left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const served = await theater.broker();
  const first = await theater.manager(served, { concurrency: NAMES.length });
  const client = theater.client(served);
  const ask = async (name: string) => {
    const job = { path: 'chaos', callable: 'again', args: [folder, name] };
    return (await client.defer('default', job, ASKED)).result;
  };
  const results = NAMES.map(ask);
  await first.line('job-started', {}, NAMES.length);
  // Each job has started: its file exists.
  while (readdirSync(folder).length < NAMES.length) await new Promise((resolve) => setTimeout(resolve, 5));
  await theater.manager(served, { concurrency: NAMES.length });
  first.kill('SIGKILL');

  expect(await Promise.all(results)).toEqual(NAMES);
  // A repeated request would end at once, so a duplicate would have arrived before.
  expect(await ask('a')).toBe('a');
  expect(client.stats()).toMatchObject({ taken: 5, results: 5, lateReplies: 0 });
  const runs = readdirSync(folder).map((file) => file.split(' ')[0] ?? '');
  expect(runs.filter((name) => name !== 'a').sort()).toEqual(['b', 'b', 'c', 'c', 'd', 'd']);
  const pids = NAMES.map((name) => Number(readFileSync(join(folder, name), 'utf8')));
  while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync(folder, { recursive: true });
});

it('when it is killed, another one does the jobs with retry-count, and the client is told about each other job once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const served = await theater.broker();
  const first = await theater.manager(served, { concurrency: NAMES.length });
  const client = theater.client(served);
  const results = NAMES.map(async (name, i) => {
    const job = { path: 'chaos', callable: 'again', args: [folder, name] };
    return (await client.defer('default', job, { replyRequested: true, retryCount: i % 2 })).result;
  });
  await first.line('job-started', {}, NAMES.length);
  while (readdirSync(folder).length < NAMES.length) await new Promise((resolve) => setTimeout(resolve, 5));
  await theater.manager(served, { concurrency: NAMES.length });
  first.kill('SIGKILL');

  const lost = 'job lost with its worker';
  expect(await Promise.all(results)).toEqual([lost, 'b', lost, 'd']);
  expect(client.stats()).toMatchObject({ taken: 4, results: 4, lateReplies: 0 });
  rmSync(folder, { recursive: true });
});

/** A process whose exit code is not requested does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
