// The broker is killed and restarted on its ports, or has a deputy: job managers and schedulers register again, and work continues.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownEndpoint } from '@proj/testkit';
import { expect, it } from 'vitest';
import { stage } from './stage.js';

const theater = stage();

it('after a broker kill, job managers return with only their free slots, and do new jobs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const ports = { 'emqp-frontend': await ownEndpoint(), 'emqp-backend': await ownEndpoint() };
  const first = await theater.broker(ports);
  const manager = await theater.manager(first, { concurrency: 2 });
  const before = theater.client(first);
  const job = { path: 'chaos', callable: 'again', args: [folder, 'held'] };
  await before.defer('default', job, { replyRequested: true });
  await manager.line('job-started');
  while (readdirSync(folder).length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  first.broker.kill('SIGKILL');
  await first.broker.exit;

  const second = await theater.broker(ports);
  await manager.line('registered', {}, 2);
  const after = theater.client(second);
  for (let run = 1; run <= 5; run++)
    expect(await (await after.defer('default', job, { replyRequested: true })).result).toBe('held');
  expect(after.stats()).toMatchObject({ taken: 5, results: 5, lateReplies: 0 });
  // All five run on the one slot that was free.
  expect(new Set(readdirSync(folder)).size).toBe(2);
  manager.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('after a kill of a broker with a deputy, job managers and schedulers go there, and scheduled jobs continue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  // It was started before, so it ends at once.
  writeFileSync(join(folder, 'tick'), '');
  const brokers = [await theater.broker(), await theater.broker()] as const;
  const [first, deputy] = brokers;
  const manager = await theater.manager(brokers, { concurrency: 1 });
  const scheduler = await theater.scheduler(brokers);
  const job = { path: 'chaos', callable: 'again', args: [folder, 'tick'] };
  await theater.client(first).schedule('default', job, { intervalSeconds: 1 });
  await manager.line('job-started', {}, 2);
  first.broker.kill('SIGKILL');

  await manager.line('registered', { endpoint: deputy.backend });
  await scheduler.line('registered', { endpoint: deputy.frontend });
  await manager.line('job-started', {}, manager.lines('job-started').length + 2);
  scheduler.kill('SIGTERM');
  expect(await scheduler.exit).toMatchObject({ code: 0 });
  manager.kill('SIGTERM');
  expect(await manager.exit).toMatchObject({ code: 0 });
  rmSync(folder, { recursive: true });
});
