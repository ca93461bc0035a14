/** Real processes and threads: they are gone when they are reported gone, and others replace them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exists, HANDLERS, job, JobLog, PoolRig, until } from '../../test/emqp/pool-rig.js';

let log: JobLog;
let rigs: PoolRig[];
beforeEach(() => {
  log = new JobLog();
  rigs = [];
});
afterEach(async () => {
  await Promise.all(rigs.map(({ pool }) => pool.close()));
  log.remove();
});

async function started(...options: ConstructorParameters<typeof PoolRig>): Promise<PoolRig> {
  const rig = new PoolRig(...options);
  rigs.push(rig);
  await rig.pool.start();
  return rig;
}

describe.each(['processes', 'threads'] as const)('%s', (kind) => {
  it('rule 3: run a job in each slot at the same time', async () => {
    const rig = await started({ kind, concurrency: 3 });
    await Promise.all([0, 1, 2].map((slot) => rig.next(`up ${slot}`)));
    for (const slot of [0, 1, 2]) rig.begin(job('my', 'hang', `busy${slot}`), slot);
    await Promise.all([0, 1, 2].map((slot) => log.number(`busy${slot}`)));
    expect(new Set(rig.pool.ids).size).toBe(3);
  });

  it.each(['hang', 'spin'])(
    'rule 8: are killed in the middle of a job that would %s for ever, and replaced',
    async (how) => {
      const rig = await started({ kind });
      await rig.next('up 0');
      rig.begin(job('my', how, 'pid'));
      const pid = await log.number('pid');
      rig.pool.kill(0);
      await rig.next('gone 0');
      if (kind === 'processes') expect(exists(pid)).toBe(false);
      await rig.next('up 0');
      expect(await rig.call('my', 'count')).toEqual(['done', '{"value": 1}']);
    },
  );

  it('rule 9: are replaced if they die by themselves', async () => {
    const rig = await started({ kind });
    await rig.next('up 0');
    rig.begin(job('my', 'die', 7));
    expect(await rig.next('gone 0')).toBe(
      `gone 0 the ${kind === 'processes' ? 'process' : 'thread'} ended with code 7`,
    );
    await rig.next('up 0');
    expect(await rig.call('my', 'add', 1, 2)).toEqual(['done', '{"value": 3}']);
  });

  it('rule 9: start anew when they are recycled', async () => {
    const rig = await started({ kind });
    await rig.next('up 0');
    expect(await rig.call('my', 'count')).toEqual(['done', '{"value": 1}']);
    expect(await rig.call('my', 'count')).toEqual(['done', '{"value": 2}']);
    const [before] = rig.pool.ids;
    rig.pool.recycle(0);
    await rig.next('up 0');
    expect(rig.pool.ids).not.toContain(before);
    expect(await rig.call('my', 'count')).toEqual(['done', '{"value": 1}']);
  });

  it('are not disturbed by what their jobs send on the same channel, and neither is the pool', async () => {
    const rig = await started({ kind });
    await rig.next('up 0');
    const words = ['ready', null, 5, {}, [], { ready: true }, { number: 1, outcome: 'done', json: 'none' }];
    expect(await rig.call('sums', 'speaks', words)).toEqual(['done', '{"value": "spoken"}']);
    expect(rig.said).toEqual([]);
  });

  it('are gone when the pool is closed, whatever they did', async () => {
    const rig = await started({ kind, concurrency: 2 });
    await Promise.all([rig.next('up 0'), rig.next('up 1')]);
    const pids = rig.pool.ids;
    await rig.pool.close();
    rigs.length = 0;
    expect(rig.pool.ids).toEqual([]);
    if (kind === 'processes') expect(pids.filter(exists)).toEqual([]);
  });
});

it('rule 8: everything that a job has started dies with it', async () => {
  const rig = await started();
  await rig.next('up 0');
  rig.begin(job('my', 'child', 'grandchild'));
  const pid = await log.number('grandchild');
  rig.pool.kill(0);
  await rig.next('gone 0');
  await until(() => !exists(pid));
});

it.each(['die', 'recycle'] as const)('what a job has started ends when its process ends by %s', async (how) => {
  const rig = await started();
  await rig.next('up 0');
  rig.begin(job('my', 'leave', 'grandchild'));
  await rig.next('ran 0');
  const pid = await log.number('grandchild');
  if (how === 'recycle') rig.pool.recycle(0);
  else rig.begin(job('my', 'die', 0));
  await rig.next('up 0');
  await until(() => !exists(pid));
});

it('signals that reach the whole group do not end a process: the job manager decides', async () => {
  const rig = await started();
  await rig.next('up 0');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(rig.pool.ids[0]!, signal);
  expect(await rig.call('my', 'add', 1, 2)).toEqual(['done', '{"value": 3}']);
  expect(rig.said).toEqual([]);
});

describe('a start', () => {
  it.each([
    ['a module that does not load', 'throw new Error("not today");', 'not today'],
    ['a hook that throws', 'export const onProcessStart = () => { throw new Error("no database"); };', 'no database'],
    ['a handler that is no function', 'export default { a: 1 };', 'handler "a" is not a function'],
    ['a module that ends its process', 'process.exit(3);', 'the process ended with code 3'],
  ])('fails with %s', async (_, text, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'proj-handlers-'));
    const handlers = join(folder, 'handlers.mjs');
    writeFileSync(handlers, text);
    await expect(started({ handlers })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: `EmqpJobManager: jobs cannot run here: ${reason}`,
    });
    rmSync(folder, { recursive: true });
  });

  it.each(['/nowhere', HANDLERS])('fails when %s is no folder, and says so once', async (directory) => {
    const rig = new PoolRig({ directory });
    rigs.push(rig);
    await expect(rig.pool.start()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: `EmqpJobManager: jobs cannot run here: directory "${directory}": no such folder`,
    });
    expect(rig.said).toEqual([]);
  });
});

it('tries again, after a pause, what could not start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-handlers-'));
  const handlers = join(folder, 'handlers.mjs');
  writeFileSync(handlers, 'export default { "a.die": () => process.exit(1) };');
  const rig = await started({ handlers });
  await rig.next('up 0');
  writeFileSync(handlers, 'throw new Error("for a while");');
  rig.begin(job('a', 'die'));
  await rig.next('failed');
  writeFileSync(handlers, 'export default { "a.ok": () => "ok" };');
  await rig.next('up 0');
  expect(await rig.call('a', 'ok')).toEqual(['done', '{"value": "ok"}']);
  rmSync(folder, { recursive: true });
});
