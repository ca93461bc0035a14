/** The job manager as users have it: real sockets, real processes, and a broker played by the test. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DIRECTORY, exists, HANDLERS, JobLog } from '../../test/emqp/pool-rig.js';
import { ScriptedBroker } from '../../test/emqp/scripted-broker.js';
import { ZmqWorld } from '../../test/world.js';
import { EmqpJobManager } from './job-manager.js';
import type { EmqpJobManagerOptions } from './options.js';

const REPLY = { replyRequested: true };
/** Time for a job that does not end: enough to start, however busy the machine is. */
const LIMITED = { ...REPLY, timeoutSeconds: 4 };

/** Long enough that no heartbeat decides anything here, however busy the machine is. */
const PATIENT = { heartbeatIntervalMs: 60_000, brokerExpiryMs: 600_000, ackTimeoutMs: 300_000 } as const;

let world: ZmqWorld;
let log: JobLog;
beforeEach(() => {
  world = new ZmqWorld();
  log = new JobLog();
});
afterEach(async () => {
  await world.end();
  log.remove();
});

async function broker(endpoint = world.endpoint()): Promise<ScriptedBroker> {
  return world.closeAtEnd(await ScriptedBroker.start(world.peerTransport(), endpoint));
}

function manager(options: Partial<EmqpJobManagerOptions> = {}): EmqpJobManager {
  const { transport } = world;
  return world.closeAtEnd(
    new EmqpJobManager({ transport, handlers: HANDLERS, directory: DIRECTORY, concurrency: 1, ...PATIENT, ...options }),
  );
}

/** A broker, and a job manager that has sent one READY to it. */
async function stage(options: Partial<EmqpJobManagerOptions> = {}) {
  const scripted = await broker();
  const made = manager({ endpoints: [scripted.endpoint], ...options });
  await made.start();
  const { peer } = await scripted.next('ready');
  return { broker: scripted, manager: made, peer };
}

it('rules 2, 3 and 4: sends INFORM and READY per slot, runs a job, answers it and sends READY again', async () => {
  const scripted = await broker();
  const made = manager({
    endpoints: [scripted.endpoint],
    queues: [
      [20, 'mail'],
      [10, 'default'],
    ],
    concurrency: 2,
  });
  await made.start();
  const { peer, command } = await scripted.next('inform-worker');
  expect(command.queues).toEqual([
    { weight: 20, name: 'mail' },
    { weight: 10, name: 'default' },
  ]);
  await scripted.next('ready');
  await scripted.next('ready');
  const id = scripted.request(peer, REPLY, 'my', 'add', 2, 3);
  expect(await scripted.result()).toBe(`${id} {"value": 5}`);
  await scripted.next('ready');
  expect(made.stats()).toMatchObject({ jobs: 1, done: 1, replies: 1, conversations: 1, free: 2 });
});

it('rule 1: has a routing id in ASCII, a new one for each connection', async () => {
  const { broker: first, peer } = await stage();
  await first.close();
  const second = await broker(first.endpoint);
  const { peer: again } = await second.next('ready');
  for (const { key } of [peer, again]) expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(again.key).not.toBe(peer.key);
});

it('rule 5: an invalid job fails alone', async () => {
  const { broker: scripted, manager: made, peer } = await stage();
  scripted.requestBody(peer, REPLY, 'no JSON');
  expect(await scripted.result()).toBe('job-1 {"value": "the body is not JSON in UTF-8"}');
  scripted.request(peer, { ...REPLY, retryCount: 3 }, 'no', 'job');
  expect(await scripted.result()).toBe('job-2 {"value": "no job \\"no.job\\" here"}');
  scripted.request(peer, REPLY, 'sums', 'add', 1, 1);
  expect(await scripted.result()).toBe('job-3 {"value": 2}');
  expect(made.stats()).toMatchObject({ retries: 0, failed: 2, done: 1, conversations: 1 });
});

it('rule 7: retry-count N runs a failing job N + 1 times, and answers it once', async () => {
  const { broker: scripted, peer } = await stage({ retryDelayMs: 1, retryMaxMs: 4 });
  const id = scripted.request(peer, { ...REPLY, retryCount: 3 }, 'my', 'fail', 'no');
  expect(await scripted.result()).toBe(`${id} {"value": "no"}`);
  await scripted.next('ready');
  expect(log.lines().filter((line) => line.startsWith('entry'))).toEqual(
    [1, 2, 3, 4].map((run) => `entry ${id} ${run}`),
  );
  expect(scripted.said.filter(({ command }) => command.kind === 'result')).toEqual([]);
});

it.each([
  ['processes', 'hang'],
  ['processes', 'spin'],
  ['threads', 'spin'],
] as const)(
  'rule 8: a job of %s that would %s for ever ends after its time: its process is gone, its slot is back',
  async (pool, how) => {
    const { broker: scripted, peer, manager: made } = await stage({ pool });
    scripted.request(peer, LIMITED, 'my', how, 'pid');
    const pid = await log.number('pid');
    expect(await scripted.result()).toBe('job-1 {"value": "TimeoutError"}');
    if (pool === 'processes') expect(exists(pid)).toBe(false);
    await scripted.next('ready');
    scripted.request(peer, REPLY, 'my', 'add', 1, 1);
    expect(await scripted.result()).toBe('job-2 {"value": 2}');
    expect(made.stats()).toMatchObject({ timeouts: 1, failed: 1, done: 1, deaths: 0 });
  },
);

it('rule 9: a job that ends its process fails, and the slot comes back', async () => {
  const { broker: scripted, peer, manager: made } = await stage();
  scripted.request(peer, REPLY, 'my', 'die', 7);
  expect(await scripted.result()).toBe('job-1 {"value": "the process ended with code 7"}');
  await scripted.next('ready');
  scripted.request(peer, REPLY, 'my', 'add', 1, 1);
  expect(await scripted.result()).toBe('job-2 {"value": 2}');
  expect(made.stats()).toMatchObject({ deaths: 1 });
});

it('rule 9: a process runs maxJobsPerProcess jobs and no more', async () => {
  const { broker: scripted, peer, manager: made } = await stage({ maxJobsPerProcess: 2 });
  const pids: string[] = [];
  for (let at = 0; at < 6; at++) {
    scripted.request(peer, REPLY, 'my', 'pid');
    pids.push((await scripted.result()).replace(/^\S+ /, ''));
    await scripted.next('ready');
  }
  expect(new Set(pids).size).toBe(3);
  expect(pids[0]).toBe(pids[1]);
  expect(made.stats()).toMatchObject({ recycled: 3, deaths: 0 });
});

it('rule 10: registers at a restarted broker, and answers there what was running', async () => {
  const { broker: first, manager: made, peer } = await stage({ concurrency: 2 });
  first.request(peer, REPLY, 'my', 'note', 'before');
  await first.result();
  first.request(peer, REPLY, 'my', 'wait', 'pid', 'go on');
  await log.number('pid');
  await first.close();
  const second = await broker(first.endpoint);
  const { peer: again } = await second.next('ready');
  second.request(again, REPLY, 'my', 'add', 1, 1);
  expect(await second.result('job-1')).toBe('job-1 {"value": 2}');
  log.write('go on');
  expect(await second.result('job-2')).toBe('job-2 {"value": "go on"}');
  expect(made.stats()).toMatchObject({ conversations: 2 });
});

describe('the end', () => {
  it('rule 11: sends KBAI and KBYE at once, finishes and answers running jobs, and leaves no process', async () => {
    const { broker: scripted, peer, manager: made } = await stage({ concurrency: 2 });
    scripted.request(peer, LIMITED, 'my', 'hang', 'pid');
    await log.number('pid');
    const pids = made.processIds;
    const drained = made.drain();
    expect((await scripted.next('bye')).command.word).toBe('KBAI');
    expect((await scripted.next('bye')).command.word).toBe('KBYE');
    scripted.request(peer, REPLY, 'my', 'note', 'too late');
    expect(await scripted.result()).toBe('job-1 {"value": "TimeoutError"}');
    await drained;
    expect(log.lines()).not.toContain('too late');
    expect([pids.length, pids.filter(exists)]).toEqual([2, []]);
  });

  it('rule 11: close kills running jobs', async () => {
    const { broker: scripted, peer, manager: made } = await stage();
    scripted.request(peer, { guarantee: true }, 'my', 'spin', 'pid');
    const pid = await log.number('pid');
    await made.close();
    expect(exists(pid)).toBe(false);
    expect(made.stats()).toMatchObject({ abandoned: 1, replies: 0 });
  });

  it('rule 12: DISCONNECT ends it', async () => {
    const { broker: scripted, peer, manager: made } = await stage();
    const pids = made.processIds;
    const ended = new Promise((resolve) => made.on('ended', resolve));
    scripted.say(peer, { kind: 'disconnect', id: 'd' });
    await scripted.next('bye');
    await ended;
    expect(pids.filter(exists)).toEqual([]);
    await made.drain();
  });

  it('may come before the start has ended', async () => {
    const made = manager({ endpoints: ['tcp://127.0.0.1:9'] });
    const started = made.start();
    await made.close();
    await expect(started).rejects.toMatchObject({ code: 'CLOSED' });
    expect(made.processIds).toEqual([]);
  });

  it('may come before the start, which then fails', async () => {
    const made = manager();
    await made.close();
    await expect(made.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('a start', () => {
  it('fails with an endpoint the transport refuses, and leaves nothing', async () => {
    const made = manager({ endpoints: ['tcp://127.0.0.1:99999'] });
    await expect(made.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(made.processIds).toEqual([]);
  });

  it('fails with missing handlers, and leaves nothing', async () => {
    const made = manager({ handlers: './nowhere.mjs', concurrency: 3 });
    await expect(made.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(made.processIds).toEqual([]);
  });
});

describe('the options', () => {
  it.each([
    ['nothing to run', {}, 'handlers'],
    ['expiry within an interval', { directory: '.', brokerExpiryMs: 3000 }, 'brokerExpiryMs'],
    ['a longest pause below the first', { directory: '.', retryMaxMs: 500 }, 'retryMaxMs'],
    ['a longest delay below the first', { directory: '.', reconnectMaxMs: 100 }, 'reconnectMaxMs'],
    ['a queue without a name', { directory: '.', queues: [[1, '']] }, 'queues'],
    ['a URL that is no file', { directory: new URL('http://x/') }, 'directory'],
    ['an unknown field', { directory: '.', slots: 3 }, 'slots'],
  ])('refuse %s', (_, options, field) => {
    expect(() => new EmqpJobManager(options as EmqpJobManagerOptions)).toThrow(field);
  });
});
