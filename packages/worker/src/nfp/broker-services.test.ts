import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Broker, DELETE, GET, POST, PUT } from '../../test/nfp/broker.js';
import type { Question, Reply } from '../../test/nfp/broker.js';
import { ZmqWorld } from '../../test/world.js';
import { defineNfpTask } from './task.js';
import type { NfpTaskHandler } from './task.js';
import type { NfpWorkerOptions } from './options.js';
import { NfpWorker } from './worker.js';

let world: ZmqWorld;
let broker: Broker;
let folder: string;
const notes: string[] = [];

beforeEach(async () => {
  world = new ZmqWorld();
  await world.transport.load();
  broker = world.closeAtEnd(new Broker(world, await world.ownEndpoint()));
  await broker.start();
  folder = await mkdtemp(join(tmpdir(), 'fetched-'));
  notes.length = 0;
});
afterEach(async () => {
  await world.end();
  await rm(folder, { recursive: true });
});

async function start(tasks: NfpWorkerOptions['tasks'], options: Partial<NfpWorkerOptions> = {}): Promise<NfpWorker> {
  const names = { endpoints: [broker.endpoint], service: 'math', name: 'math-1' };
  const worker = world.closeAtEnd(new NfpWorker({ ...names, tasks, transport: world.transport, ...options }));
  worker.on('note', ({ code }) => notes.push(code));
  const ready = broker.hearsReady();
  await worker.start();
  await ready;
  return worker;
}

const inventory: NfpTaskHandler = (_, context) => context.inventory();

describe('rule 17: the inventory', () => {
  it('is requested once, at the start, and remembered', async () => {
    broker.reply = () => '{"token":"t"}';
    await start({ inventory });
    await broker.hearsQuestions(1);
    expect(broker.questions).toMatchObject([
      { service: 'sid.service.broker', task: 'get_inventory', kwargs: { name: 'math-1' } },
    ]);
    broker.post('u1', 'inventory');
    broker.post('u2', 'inventory');
    expect(await broker.result('u1')).toMatchObject({ failed: false, result: { token: 't' } });
    expect(await broker.result('u2')).toMatchObject({ failed: false, result: { token: 't' } });
    expect(broker.questions).toHaveLength(1);
  });

  it('is empty if the broker has nothing to say', async () => {
    broker.reply = () => 'null';
    await start({ inventory });
    broker.post('u1', 'inventory');
    expect(await broker.result('u1')).toMatchObject({ result: {} });
  });

  it('is requested again if it failed, in the words of the broker', async () => {
    broker.reply = () => ({
      status: 400,
      text: '{"workers":null,"uuid":"u","target":"all","status":"FAILED","service":"s","errors":["no inventory here"]}',
    });
    await start({ inventory });
    await broker.hearsQuestions(1);
    broker.post('u1', 'inventory');
    expect(await broker.result('u1')).toMatchObject({
      failed: true,
      errors: ['get_inventory of sid.service.broker: no inventory here'],
    });
    expect(notes).toContain('inventory-failed');
    broker.reply = () => '{"a":1}';
    broker.post('u2', 'inventory');
    expect(await broker.result('u2')).toMatchObject({ result: { a: 1 } });
  });

  it.each(['[1]', '"x"', 'no JSON'])('is no %s', async (text) => {
    broker.reply = () => text;
    await start({ inventory });
    broker.post('u1', 'inventory');
    expect(await broker.result('u1')).toMatchObject({
      failed: true,
      errors: [expect.stringContaining('answer is no')],
    });
  });

  it("is requested again on restart, before the application's hook, and jobs wait until that has resolved", async () => {
    broker.reply = () => '{"version":1}';
    const order: unknown[] = [];
    const onRestart: NfpWorkerOptions['onRestart'] = async ({ inventory: ask }) => {
      order.push(await ask());
      broker.post('u1', 'inventory');
      await broker.hears('response', ({ uuid }) => uuid === 'u1');
      order.push(broker.said.filter(({ kind }) => kind === 'event').length);
      throw new Error('hook');
    };
    const worker = await start({ inventory }, { managementCommands: true, onRestart });
    worker.on('error', ({ error }) => order.push(String(error)));
    await broker.hearsQuestions(1);
    broker.reply = () => '{"version":2}';
    const ready = broker.hearsReady();
    broker.send('0x11', 'm1', { task: 'restart' });
    await ready;
    // Its event about completion had no connection to go out on.
    broker.send(GET, 'u1');
    const { text } = await broker.hears('response', (said) => said.text.startsWith('{"math-1"'));
    expect(JSON.parse(text)).toMatchObject({ 'math-1': { result: { version: 2 } } });
    expect(order).toEqual([{ version: 2 }, 0, 'Error: hook']);
    expect(notes).toContain('restarted');
  });

  it.each([true, false])('is another one after restart, requested at once: %s', async (fetchInventory) => {
    broker.reply = () => '{"version":1}';
    await start({ inventory }, { managementCommands: true, fetchInventory });
    broker.post('u1', 'inventory');
    expect(await broker.result('u1')).toMatchObject({ result: { version: 1 } });
    broker.reply = () => '{"version":2}';
    const ready = broker.hearsReady();
    broker.send('0x11', 'm1', { task: 'restart' });
    await ready;
    expect(broker.questions).toHaveLength(fetchInventory ? 2 : 1);
    broker.post('u2', 'inventory');
    expect(await broker.result('u2')).toMatchObject({ result: { version: 2 } });
  });

  it('is requested only on demand, if the options say so', async () => {
    broker.reply = () => '{}';
    await start({ inventory }, { fetchInventory: false });
    broker.post('u1', 'inventory');
    await broker.result('u1');
    expect(broker.questions).toHaveLength(1);
  });
});

/** A file service with one file. */
function serve(content: Buffer): (question: Question) => Reply | undefined {
  const md5 = createHash('md5').update(content).digest('hex');
  return ({ task, kwargs }) => {
    if (kwargs['url'] !== 'nf://a/b.bin') return '{"md5hash":null,"size_bytes":null,"exists":false}';
    if (task === 'file_details') return JSON.stringify({ md5hash: md5, size_bytes: content.length, exists: true });
    const offset = kwargs['offset'] as number;
    return content.subarray(offset, offset + (kwargs['chunk_size'] as number)).toString('latin1');
  };
}

/** What brokers answer to a call for a service that nobody has. */
const NO_SERVICE = {
  status: 400,
  text: '{"workers":null,"uuid":"u","target":"all","status":"FAILED","service":"s","errors":["no workers"]}',
};

const path: NfpTaskHandler = ({ args }, { fetch }) => fetch(String(args[0]));

describe('rule 17: files', () => {
  it('come in chunks, checked against their hash, into the folder of the worker', async () => {
    const content = Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 251));
    broker.reply = serve(content);
    await start({ path }, { fetchFiles: folder, fetchInventory: false, maxMessageBytes: 8192 });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    expect(await broker.result('u1')).toMatchObject({ failed: false, result: join(folder, 'a/b.bin') });
    expect(await readFile(join(folder, 'a/b.bin'))).toEqual(content);
    const chunks = broker.questions.filter(({ task }) => task === 'fetch_file');
    expect(chunks.map(({ kwargs }) => kwargs['offset'])).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => index * 7168));
    broker.post('u2', 'path', { args: ['nf://a/b.bin'] });
    await broker.result('u2');
    expect(broker.questions.filter(({ task }) => task === 'fetch_file')).toHaveLength(chunks.length);
  });

  it.each([
    ['the broker does not have', 'nf://x', 'has no file with this name'],
    ['lead out of the folder', 'nf://../x', 'must be nf://'],
  ])('that %s fail the task', async (_, url, error) => {
    broker.reply = serve(Buffer.from('x'));
    await start({ path }, { fetchFiles: folder });
    broker.post('u1', 'path', { args: [url] });
    expect(await broker.result('u1')).toMatchObject({ failed: true, errors: [expect.stringContaining(error)] });
  });

  it('are not fetched if no folder is set', async () => {
    await start({ path });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    expect(await broker.result('u1')).toMatchObject({ errors: [expect.stringContaining('set the option fetchFiles')] });
  });

  it('replace their URLs in arguments, if the definition says so', async () => {
    broker.reply = serve(Buffer.from('content'));
    const seen: unknown[] = [];
    const handler: NfpTaskHandler = ({ args, kwargs }) => void seen.push(args, kwargs);
    const deploy = defineNfpTask({
      kwargs: z.looseObject({ template: z.string().startsWith('nf://') }),
      fetch: ['template', 'more', 'absent', 1, 7],
      handler: handler,
    });
    await start({ deploy }, { fetchFiles: folder });
    const kwargs = { template: 'nf://a/b.bin', more: ['nf://a/b.bin', 'text', 3], other: 'nf://a/b.bin' };
    broker.post('u1', 'deploy', { args: ['nf://a/b.bin', 'nf://a/b.bin'], kwargs });
    expect(await broker.result('u1')).toMatchObject({ failed: false });
    const local = join(folder, 'a/b.bin');
    expect(seen).toEqual([
      ['nf://a/b.bin', local],
      { template: local, more: [local, 'text', 3], other: 'nf://a/b.bin' },
    ]);
    expect(await readFile(local, 'utf8')).toBe('content');
  });

  it('come from the workers that share them if the broker has no file service, and resume where they were interrupted', async () => {
    const content = 'abcdefghij'.repeat(1000);
    const size = 7168;
    const md5 = createHash('md5').update(content).digest('hex');
    let losses = 0;
    broker.reply = ({ service, command, task, kwargs, offset }) => {
      if (service !== 'filesharing') return NO_SERVICE;
      if (command === GET) return undefined;
      if (task === 'file_details')
        return `{"f0":{"failed":true,"errors":["x"]},"f1":{"failed":false,"result":{"md5hash":"${md5}","size_bytes":10000}}}`;
      if (command === PUT && losses++ === 0) {
        broker.send('0x03', '');
        return undefined;
      }
      const from = offset ?? (kwargs['offset'] as number);
      return { stream: content.slice(from, from + size) };
    };
    await start({ path }, { fetchFiles: folder, fetchInventory: false, maxMessageBytes: 8192 });
    const back = broker.hearsReady();
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    await back;
    await broker.hearsQuestions(5);
    await broker.hears('event', ({ text }) => text.includes('"message":"completed"'));
    expect(await readFile(join(folder, 'a/b.bin'), 'utf8')).toBe(content);
    const asked = broker.questions.map(({ command, service, kwargs, offset }) => [
      ...[command, service, offset ?? kwargs['offset']],
    ]);
    expect(asked).toEqual([
      ['0x11', 'fss.service.broker', undefined],
      [POST, 'filesharing', undefined],
      [POST, 'filesharing', 0],
      [PUT, 'filesharing', size],
      [POST, 'filesharing', size],
    ]);
    expect(new Set(broker.questions.map(({ uuid }) => uuid)).size).toBe(4);
  });

  it('fail if the broker is lost again and again while one comes from a worker', async () => {
    let losses = 0;
    broker.reply = ({ service, command, task }) => {
      if (service !== 'filesharing') return NO_SERVICE;
      if (task === 'file_details')
        return '{"f1":{"failed":false,"result":{"md5hash":"0123456789abcdef0123456789abcdef","size_bytes":5}}}';
      if (command === POST && losses++ < 4) broker.send('0x03', '');
      return undefined;
    };
    await start({ path }, { fetchFiles: folder, fetchInventory: false, reconnectMinMs: 1, reconnectMaxMs: 1 });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    expect(await broker.result('u1')).toMatchObject({ errors: [expect.stringContaining('lost 4 times')] });
    expect(losses).toBe(4);
  });

  it('fail at once, with what to do, if neither the broker nor a worker shares them', async () => {
    broker.reply = () => NO_SERVICE;
    await start({ path }, { fetchFiles: folder, fetchInventory: false });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    expect(await broker.result('u1')).toMatchObject({
      failed: true,
      errors: [
        'file nf://a/b.bin: file_details of fss.service.broker: no workers; file_details of filesharing: no workers; ' +
          'have the broker, or a worker of service filesharing, share its folder',
      ],
    });
    expect(broker.questions).toHaveLength(2);
  });

  it('fail with the same message if the broker lets the query wait for workers that do not come', async () => {
    broker.reply = ({ service }) => (service === 'filesharing' ? undefined : NO_SERVICE);
    await start({ path }, { fetchFiles: folder, fetchInventory: false, askTimeoutMs: 50 });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    expect(await broker.result('u1')).toMatchObject({
      errors: [
        expect.stringMatching(/file_details of filesharing: no answer within 50 ms; have the broker, or a worker/),
      ],
    });
  });

  it('stay while a task needs them, and no longer', async () => {
    broker.reply = serve(Buffer.from('1234567890'));
    let open: (value: unknown) => void = () => {};
    const gate = new Promise((resolve) => (open = resolve));
    const keeps: NfpTaskHandler = async (_, { fetch, progress }) => {
      const file = await fetch('nf://a/b.bin');
      progress('has it');
      await gate;
      return existsSync(file);
    };
    const worker = await start({ keeps, path }, { fetchFiles: folder, fetchMaxBytes: 15 });
    broker.post('u1', 'keeps');
    await broker.hears('event', ({ text }) => text.includes('has it'));
    const serveOther = serve(Buffer.from('other file'));
    const other = (question: Question) =>
      serveOther({ ...question, kwargs: { ...question.kwargs, url: 'nf://a/b.bin' } });
    broker.reply = other;
    broker.post('u2', 'path', { args: ['nf://c'] });
    expect(await broker.result('u2')).toMatchObject({ errors: [expect.stringContaining('no room')] });
    open(undefined);
    expect(await broker.result('u1')).toMatchObject({ result: true });
    broker.post('u3', 'path', { args: ['nf://c'] });
    expect(await broker.result('u3')).toMatchObject({ failed: false });
    expect(existsSync(join(folder, 'a/b.bin'))).toBe(false);
    await worker.close();
  });

  it('are no longer awaited by a task that is told to stop', async () => {
    await start({ path }, { fetchFiles: folder, fetchInventory: false });
    broker.post('u1', 'path', { args: ['nf://a/b.bin'] });
    await broker.hearsQuestions(1);
    broker.send(DELETE, 'u1');
    expect(await broker.result('u1')).toMatchObject({ status: 'cancelled' });
  });
});

it('rule 17: a worker without a store says so, once', async () => {
  await start({ path });
  expect(notes.filter((code) => code === 'volatile-store')).toHaveLength(1);
});
