import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { Broker, DELETE } from '../../../test/nfp/broker.js';
import { ZmqWorld } from '../../../test/world.js';
import type { NfpWorkerOptions } from '../options.js';
import { defineNfpTask } from '../task.js';
import { NfpWorker } from '../worker.js';

let world: ZmqWorld;
let broker: Broker;
let jobs = 0;

const aText: unknown = expect.any(String);
const aNumber: unknown = expect.any(Number);
const anObject: unknown = expect.any(Object);
/** As the C library prints it. */
const aTime: unknown = expect.stringMatching(/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/);

beforeEach(async () => {
  world = new ZmqWorld();
  await world.transport.load();
  broker = world.closeAtEnd(new Broker(world, await world.ownEndpoint()));
  broker.reply = ({ task }) => (task === 'get_inventory' ? '{"token":"t"}' : undefined);
  await broker.start();
});
afterEach(() => world.end());

async function start(options: Partial<NfpWorkerOptions> = {}): Promise<void> {
  const names = { endpoints: [broker.endpoint], service: 'math', name: 'math-1', tasks: { one: () => 1 } };
  const ready = broker.hearsReady();
  await world.closeAtEnd(new NfpWorker({ ...names, transport: world.transport, ...options })).start();
  await ready;
}

/** Posts a job under the next of the uuids j1, j2, ..., and returns its outcome. */
function run(task: string, kwargs: object = {}, args: readonly unknown[] = []): Promise<Record<string, unknown>> {
  const uuid = `j${++jobs}`;
  broker.post(uuid, task, { kwargs, args });
  return broker.result(uuid);
}

const resultOf = async (...call: Parameters<typeof run>) => (await run(...call))['result'];
const namesOf = (rows: unknown) => (rows as { uuid: string }[]).map(({ uuid }) => uuid);

beforeEach(() => {
  jobs = 0;
});

describe('rule 18: list_tasks', () => {
  const add = defineNfpTask({
    description: 'adds',
    args: z.tuple([z.number()]),
    kwargs: z.strictObject({ to: z.int().describe('what to add to') }),
    handler: () => 1,
  });

  it("has a row for each task in NORFAB's form, with arguments by JSON Schema", async () => {
    await start({ tasks: { add, plain: () => 1 } });
    const rows = (await resultOf('list_tasks')) as Record<string, unknown>[];
    for (const row of rows)
      expect(row).toMatchObject({
        name: aText,
        description: aText,
        inputSchema: { type: 'object', properties: anObject },
        outputSchema: { type: 'object', properties: { result: {}, failed: {} } },
        fastapi: {},
        mcp: {},
        agent: {},
      });
    const row = (name: string) => rows.find((each) => each['name'] === name);
    expect(row('add')).toMatchObject({
      description: 'adds',
      inputSchema: { properties: { to: { type: 'integer', description: 'what to add to' } }, required: ['to'] },
      args: { type: 'array' },
      agent: {},
    });
    expect(row('plain')).toMatchObject({ inputSchema: { properties: {}, additionalProperties: true } });
    expect(row('job_list')).toMatchObject({
      inputSchema: { properties: { pending: { type: 'boolean', default: true }, last: { type: 'integer' } } },
      fastapi: { methods: ['GET'] },
      agent: { enabled: false },
    });
  });

  it('has only names, or one row, or fails', async () => {
    await start({ tasks: { add } });
    expect(await resultOf('list_tasks', { brief: true })).toEqual([
      ...['add', 'delete_fetched_files', 'echo', 'get_inventory', 'get_logs', 'get_version', 'get_watchdog_stats'],
      ...['job_details', 'job_list', 'list_tasks'],
    ]);
    expect(await resultOf('list_tasks', { name: 'get_version' })).toMatchObject([{ name: 'get_version' }]);
    expect(await run('list_tasks', { name: 'no' })).toMatchObject({
      failed: true,
      errors: ['no - task not registered'],
    });
  });

  it('may be left out with all base tasks, and replaced one by one', async () => {
    await start({ baseTasks: false });
    expect(await run('echo')).toMatchObject({ failed: true, errors: ['unknown task "echo"'] });
    await world.end();
    world = new ZmqWorld();
    await world.transport.load();
    broker = world.closeAtEnd(new Broker(world, await world.ownEndpoint()));
    await broker.start();
    await start({ tasks: { echo: () => 'mine' } });
    expect(await resultOf('echo')).toBe('mine');
  });
});

describe('rule 18: arguments of base tasks', () => {
  it.each<[string, object, unknown[], string]>([
    ['job_list', { pendign: true }, [], 'pendign: no such argument; choose from pending, completed'],
    ['job_list', { pending: 'yes' }, [], 'pending = "yes": must be a boolean'],
    ['job_list', { last: 0 }, [], 'last = 0: must be a whole number from 1'],
    ['job_list', { last: 1.5 }, [], 'last = 1.5'],
    ['job_details', {}, [], 'uuid: is missing'],
    ['get_version', {}, [1], '1 positional arguments: the limit is 0'],
    ['get_logs', { level: 3 }, [], 'level = 3: must be a string'],
  ])('%s refuses %j %j', async (task, kwargs, args, error) => {
    await start();
    expect(await run(task, kwargs, args)).toMatchObject({ failed: true, errors: [expect.stringContaining(error)] });
  });

  it('may be given by position, and null means the default', async () => {
    await start();
    await run('one');
    expect(namesOf(await resultOf('job_list', { task: null, last: null }, [false, true]))).toEqual(['j1']);
  });
});

describe('rule 18: a worker reports', () => {
  it('its inventory, its versions and its state', async () => {
    await start({ versions: { mine: '7' } });
    expect(await resultOf('get_inventory')).toEqual({ token: 't' });
    expect(await resultOf('get_version')).toMatchObject({
      mine: '7',
      node: process.versions.node,
      '@proj/worker': manifest.version,
    });
    expect(await resultOf('get_watchdog_stats')).toMatchObject({
      timestamp: aTime,
      uptime: aText,
      uptime_seconds: aNumber,
      worker_ram_usage_mbyte: aNumber,
      sid_inventory_status: 'completed',
    });
  });

  it('what it has logged lately, by level and time', async () => {
    await start({ tasks: { bad: () => Promise.reject(new Error('broken')) } });
    await run('bad');
    const records = (await resultOf('get_logs', { last: 0 })) as { ts: string; message: string; level: string }[];
    expect(records[0]).toMatchObject({ level: 'WARNING', role: 'worker', name: 'math-1', message: 'volatile-store' });
    expect(records.map(({ ts }) => ts)).toEqual(records.map(({ ts }) => ts).sort());
    expect(await resultOf('get_logs', { level: 'error' })).toMatchObject([
      { level: 'ERROR', message: 'broken {"uuid":"j1"}' },
    ]);
    expect(await resultOf('get_logs', { last: 1, since: '2000' })).toHaveLength(1);
    expect(await resultOf('get_logs', { until: '2000' })).toEqual([]);
    expect(await resultOf('get_logs', { logger: 'other' })).toEqual([]);
  });

  it('its arguments, late or as a failure', async () => {
    await start();
    expect(await resultOf('echo', { ping: 'pong' }, [1])).toEqual({
      ...{ juuid: 'j1', client_address: 'c1', timeout: 60, task: 'echo' },
      ...{ args: [1], kwargs: { ping: 'pong' } },
    });
    expect(await run('echo', { raise_error: 'Give me error' })).toMatchObject({
      failed: true,
      errors: ['Give me error'],
    });
    expect(await run('echo', { raise_error: true })).toMatchObject({ failed: true, errors: ['true'] });
    broker.post('late', 'echo', { kwargs: { sleep: 3600 } });
    await broker.hears('event', ({ uuid }) => uuid === 'late');
    broker.send(DELETE, 'late');
    expect(await broker.result('late')).toMatchObject({ status: 'cancelled' });
  });
});

describe('rule 18: jobs', () => {
  it('are listed, newest first, by state, task, client and uuid', async () => {
    await start();
    await run('one');
    await run('nothing of this name');
    const all = (await resultOf('job_list')) as object[];
    expect(namesOf(all)).toEqual(['j3', 'j2', 'j1']);
    expect(all[2]).toEqual({
      ...{ uuid: 'j1', client_address: 'c1', task: 'one', status: 'COMPLETED', worker: 'math-1', service: 'math' },
      received_timestamp: aTime,
      started_timestamp: aTime,
      completed_timestamp: aTime,
    });
    expect(all[0]).toMatchObject({ status: 'PENDING', completed_timestamp: null });
    expect(namesOf(await resultOf('job_list', { completed: false }))).toEqual(['j4']);
    expect(namesOf(await resultOf('job_list', { pending: false, last: 1, task: 'one' }))).toEqual(['j1']);
    expect(await resultOf('job_list', { client: 'other' })).toEqual([]);
    expect(namesOf(await resultOf('job_list', { uuid: 'j2', client: 'other' }))).toEqual(['j2']);
    expect(await resultOf('job_list', { uuid: 'none' })).toEqual([]);
  });

  it('are shown one by one, with their result and events', async () => {
    await start({ tasks: { two: (_, { progress }) => (progress('half'), 2) } });
    await run('two', { a: 1 });
    const whole = await resultOf('job_details', { uuid: 'j1' });
    expect(whole).toMatchObject({
      ...{ uuid: 'j1', status: 'COMPLETED', client_address: 'c1', task: 'two', timeout: 60, args: null, kwargs: null },
      result_data: { status_code: '200', worker: 'math-1', result: { 'math-1': { result: 2, failed: false } } },
      job_events: [{ message: 'starting' }, { message: 'half', severity: 'INFO', created_at: aText }],
    });
    expect(await resultOf('job_details', { uuid: 'j1', events: false, result: false })).toMatchObject({
      result_data: null,
      job_events: [],
    });
    expect(await resultOf('job_details', { uuid: 'j4', result: true })).toMatchObject({
      ...{ status: 'STARTED', args: [], kwargs: { uuid: 'j4', result: true }, result_data: null },
      job_events: [{ message: 'starting' }],
    });
    expect(await run('job_details', { uuid: 'none' })).toMatchObject({
      failed: true,
      errors: [expect.stringContaining("'none' not found")],
    });
  });
});

describe('rule 18: run_shell_cmd', () => {
  it('does not exist unless it is turned on', async () => {
    await start();
    expect(await run('run_shell_cmd', { command: 'true' })).toMatchObject({ errors: ['unknown task "run_shell_cmd"'] });
  });

  it('returns what a command writes, and fails as the command does', async () => {
    await start({ shellCommands: true });
    expect(await run('run_shell_cmd', { command: 'echo out; echo err >&2' })).toMatchObject({
      failed: false,
      result: {
        command: 'echo out; echo err >&2',
        stdout: 'out\n',
        stderr: 'err\n',
        returncode: 0,
        timeout: null,
        timed_out: false,
      },
    });
    expect(await run('run_shell_cmd', { command: 'echo no >&2; exit 3' })).toMatchObject({
      ...{ failed: true, errors: ['no\n'], result: { returncode: 3, timed_out: false } },
    });
    expect(await run('run_shell_cmd', { command: 'exit 4' })).toMatchObject({ failed: true, errors: ['exit code 4'] });
    const long = (await resultOf('run_shell_cmd', { command: 'head -c 3000000 /dev/zero' })) as { stdout: string };
    expect(long.stdout).toHaveLength(1_048_576);
  });

  it('kills a command that takes too long, or is deleted, with all that it has started', async () => {
    await start({ shellCommands: true });
    expect(await run('run_shell_cmd', { command: 'sleep 3600 & sleep 3600; true', timeout: 1 })).toMatchObject({
      failed: true,
      errors: ['Command timed out after 1 seconds'],
      result: { returncode: null, timeout: 1, timed_out: true },
    });
    broker.post('late', 'run_shell_cmd', { kwargs: { command: 'sleep 3600' } });
    await broker.hears('event', ({ uuid }) => uuid === 'late');
    broker.send(DELETE, 'late');
    expect(await broker.result('late')).toMatchObject({ status: 'cancelled' });
  });
});
