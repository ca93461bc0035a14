import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProgram } from '@proj/appkit';
import { drawnGuide, Programs } from '@proj/appkit/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeRouter } from './router.js';

const programs = new Programs();
let folder: string;
let router: FakeRouter;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'schedules-'));
  router = await FakeRouter.bind();
});

afterEach(async () => {
  await programs.end();
  router.close();
  rmSync(folder, { recursive: true });
});

interface Started {
  readonly scheduler: ChildProgram;
  /** The number of jobs in its store when it started. */
  readonly jobs: number;
  /** Resolves when this many jobs have had all their runs since it started. */
  readonly finished: (count: number) => Promise<void>;
}

/** A scheduler that the router has acknowledged. A busy machine must not look like a silent one. */
async function start(...args: readonly string[]): Promise<Started> {
  const patient = ['--broker-expiry-ms', '600000', '--store', `lmdb:${folder}/store`];
  const scheduler = programs.start('scheduler', ['--connect', router.endpoint, ...patient, ...args]);
  const over = new Set<unknown>();
  let look = (): void => undefined;
  scheduler.onRecord(({ msg, job }) => {
    if (msg === 'finished') over.add(job);
    look();
  });
  const finished = (count: number): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (over.size >= count) resolve();
      };
      look();
    });
  // Both are awaited before either has arrived.
  const [{ jobs }] = await Promise.all([scheduler.record('listening'), scheduler.record('registered')]);
  return { scheduler, jobs: jobs as number, finished };
}

const bodyOf = (n: number): string => JSON.stringify(['run', { path: 'm', callable: 'f', args: [n] }]);

describe('proj-scheduler', () => {
  it('runs a job that proj schedule scheduled through a broker, until proj unschedule', async () => {
    // Neither loses the other on a busy machine; otherwise jobs scheduled meanwhile would be dropped.
    const { endpoints } = await programs.startBroker('--heartbeat-ms', '10000', '--liveness', '60');
    const scheduler = programs.start('scheduler', [
      ...['--connect', endpoints.emqpFrontend, '--store', 'memory:', '--broker-expiry-ms', '600000'],
    ]);
    await scheduler.record('registered');
    const at = ['--connect', endpoints.emqpFrontend, '--timeout-ms', '60000'];
    const scheduled = scheduler.record('scheduled');
    const result = await programs.run('cli', ['schedule', 'mail', 'myjobs.add', '5', '5', '--interval', '3600', ...at]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    // EventMQ's own scheduler gives this job the same name.
    expect(await scheduled).toMatchObject({ queue: 'mail', job: '1a3aa8fbf8ce963478f04ef0a3df8944e656b801' });
    const unscheduled = scheduler.record('unscheduled');
    expect(await programs.run('cli', ['unschedule', 'mail', 'myjobs.add', '5', '5', ...at])).toMatchObject({ code: 0 });
    expect(await unscheduled).toMatchObject({ job: '1a3aa8fbf8ce963478f04ef0a3df8944e656b801' });
  });

  it('rule 2: killed again and again, loses at most one run of a job per kill, and duplicates none', async () => {
    const [jobs, runs, kills] = [20, 8, 4];
    let last = await start();
    for (let n = 0; n < jobs; n++) await router.schedule(bodyOf(n), 1, `guarantee,run_count:${runs}`);
    await router.until(() => new Set(router.requests).size === jobs);
    for (let kill = 0; kill < kills; kill++) {
      const seen = router.requests.length;
      // On a slow machine everything may be over sooner.
      const over = last.finished(kill === 0 ? jobs : last.jobs);
      await Promise.race([router.until(() => router.requests.length > seen), over]);
      last.scheduler.kill('SIGKILL');
      await last.scheduler.exit;
      last = await start();
    }
    await last.finished(last.jobs);
    last.scheduler.kill('SIGTERM');
    expect((await last.scheduler.exit).code).toBe(0);
    await router.until(() => router.words.includes('KBYE'));
    const counts = new Map<string, number>();
    for (const body of router.requests) counts.set(body, (counts.get(body) ?? 0) + 1);
    for (let n = 0; n < jobs; n++) {
      const count = counts.get(bodyOf(n)) ?? 0;
      expect(count).toBeLessThanOrEqual(runs);
      expect(count).toBeGreaterThanOrEqual(runs - kills);
    }
    expect(new Set(router.headers)).toEqual(new Set(['reply-requested,guarantee']));
    expect((await start()).jobs).toBe(0);
    await router.until(() => router.words.filter((word) => word === 'INFORM').length >= kills + 2);
  });

  it('rule 8: sends both goodbye commands at DISCONNECT and SIGTERM, and exits with 0', async () => {
    const { scheduler } = await start();
    await router.disconnect();
    expect((await scheduler.exit).code).toBe(0);
    await router.until(() => router.words.includes('KBYE'));
    const second = await start();
    second.scheduler.kill('SIGTERM');
    expect((await second.scheduler.exit).code).toBe(0);
    await router.until(() => router.words.filter((word) => word === 'KBYE').length >= 2);
    expect(router.words.filter((word) => word.startsWith('KB'))).toEqual(['KBAI', 'KBYE', 'KBAI', 'KBYE']);
  });

  it('does not share its folder', async () => {
    await start();
    const second = programs.start('scheduler', ['--connect', router.endpoint, '--store', `lmdb:${folder}/store`]);
    const { code } = await second.exit;
    expect(code).not.toBe(0);
  });

  it.each([
    ['--store', 'postgres://x'],
    ['--time-zone', 'Mars/Olympus'],
  ])('refuses %s %s', async (flag, value) => {
    const { code, stdout, stderr } = await programs.run('scheduler', [flag, value]);
    expect(code).toBe(2);
    expect(stdout + stderr).toContain(value);
  });

  it.each([
    ['/proc/x', 'ENOENT'],
    ['/dev/null', 'it is not a folder'],
  ])('refuses a store in %s with exit code 2 and one line', async (place, why) => {
    const advice = 'choose a folder that can be created, read and written';
    expect(await programs.run('scheduler', ['--store', `lmdb:${place}`])).toEqual({
      code: 2,
      stdout: '',
      stderr: `proj-scheduler: the store in ${place} cannot be opened (${why}): ${advice}\n`,
    });
  });

  it('has a guide with the options of its help', async () => {
    const { guide, drawn } = await drawnGuide('scheduler');
    expect(guide).toBe(drawn);
  });
});
