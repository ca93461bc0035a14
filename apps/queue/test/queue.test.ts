import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeKeyPair } from '@proj/appkit';
import type { ChildProgram } from '@proj/appkit';
import { drawnGuide, programPath, Programs } from '@proj/appkit/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Dealer, Router } from 'zeromq';

const programs = new Programs();
const sockets: (Dealer | Router)[] = [];
let folder: string;
/** Folders of single tests. */
const after: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'queue-'));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await programs.end();
  for (const each of [folder, ...after.splice(0)]) rmSync(each, { recursive: true });
});

const FREE = 'tcp://127.0.0.1:*';
const ANY_PORT = ['--receive', FREE, '--send', FREE, '--monitor', FREE];
const BOUND = expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/) as string;
/** An acknowledgement must not be late on a busy machine. */
const PATIENT = ['--ack-timeout-ms', '600000'];

type Endpoints = Readonly<Record<'receive' | 'send' | 'monitor', string>>;

async function start(...args: readonly string[]): Promise<{ queue: ChildProgram; endpoints: Endpoints }> {
  const queue = programs.start('queue', [...ANY_PORT, '--store', `lmdb:${folder}`, ...PATIENT, ...args]);
  return { queue, endpoints: (await queue.record('listening'))['endpoints'] as Endpoints };
}

function dealer(endpoint: string): Dealer {
  const socket = new Dealer({ linger: 0 });
  sockets.push(socket);
  socket.connect(endpoint);
  return socket;
}

/** Pushes messages whose body is their id, one after the other, each acknowledged. */
async function push(endpoint: string, ...texts: readonly string[]): Promise<void> {
  const producer = dealer(endpoint);
  for (const text of texts) {
    await producer.send([text, '', text]);
    expect((await producer.receive()).map(String)).toEqual([text, '1', '']);
  }
}

interface Delivery {
  readonly address: readonly Buffer[];
  readonly key: string;
  readonly text: string;
}

/** A consumer, and a way to take its next message. */
function consumer(endpoint: string) {
  const socket = new Router({ linger: 0, mandatory: true });
  sockets.push(socket);
  // Subscribed before there is anything to receive.
  const connected = new Promise<void>((resolve) => {
    socket.events.on('handshake', () => resolve());
  });
  socket.connect(endpoint);
  return {
    connected,
    async next(): Promise<Delivery> {
      const [from, key, , , , ...body] = await socket.receive();
      return { address: [from!, key!], key: String(key), text: body.map(String).join('|') };
    },
    answer: ({ address }: Delivery, status: string) => socket.send([...address, status]),
  };
}

describe('proj-queue', () => {
  it('logs where it listens and what it holds, in one line', async () => {
    const { queue } = await start('--dead-letter-send', FREE);
    expect(await queue.record('listening')).toMatchObject({
      level: 'info',
      name: 'proj-queue',
      endpoints: { receive: BOUND, send: BOUND, monitor: BOUND, deadLetterSend: BOUND },
      store: 'lmdb',
      durable: true,
      messages: 0,
    });
  });

  it('keeps acknowledged messages through a SIGKILL, but no settled ones', async () => {
    const texts = Array.from({ length: 100 }, (_, index) => String(index));
    const first = await start();
    await push(first.endpoints.receive, ...texts);
    const taker = consumer(first.endpoints.send);
    const [zero, one] = [await taker.next(), await taker.next()];
    await taker.answer(zero, '1');
    // The next producer's answer comes after a flush that includes the settled message: the queue reads its sockets in turn,
    // and when a returned message is delivered again, everything sent before it has been read.
    await taker.answer(one, '0');
    for (let delivery = await taker.next(); delivery.text !== '1'; delivery = await taker.next());
    await push(first.endpoints.receive, 'last');
    first.queue.kill('SIGKILL');
    await first.queue.exit;

    const second = await start('--drain-ms', '600000');
    const rest = consumer(second.endpoints.send);
    const kept: Delivery[] = [];
    while (kept.length < texts.length) {
      const delivery = await rest.next();
      kept.push(delivery);
      await rest.answer(delivery, '1');
    }
    expect(kept.map(({ text }) => text)).toEqual([...texts.slice(1), 'last']);
    expect(kept[0]?.key).toBe(one.key);
    second.queue.kill('SIGTERM');
    expect(await second.queue.exit).toMatchObject({ code: 0 });
    expect(await second.queue.record('drained')).toMatchObject({ messages: 0 });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('exits 0 on %s and keeps what is left', async (signal) => {
    const { queue, endpoints } = await start();
    await push(endpoints.receive, 'a', 'b');
    queue.kill(signal);
    expect(await queue.exit).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(await queue.record('drained')).toMatchObject({ messages: 2 });
    const again = await start();
    expect(await again.queue.record('listening')).toMatchObject({ messages: 2 });
  });

  it('ends within --drain-ms, although a consumer has a message in hand', async () => {
    const { queue, endpoints } = await start('--drain-ms', '50');
    await push(endpoints.receive, 'a');
    await consumer(endpoints.send).next();
    queue.kill('SIGTERM');
    expect(await queue.exit).toMatchObject({ code: 0, stderr: '' });
    expect(await queue.record('drained')).toMatchObject({ messages: 1 });
  });

  it('answers MONITOR with its version', async () => {
    const { endpoints } = await start();
    const watcher = dealer(endpoints.monitor);
    await watcher.send(['', 'MONITOR']);
    const [blank, text] = (await watcher.receive()).map(String);
    expect([blank, text?.startsWith('messages: 0\n')]).toEqual(['', true]);
  });

  it('serves through ZMTP in TypeScript, too', async () => {
    const { queue, endpoints } = await start('--transport', 'zmtp', '--drain-ms', '600000');
    await push(endpoints.receive, 'a', 'b');
    const taker = consumer(endpoints.send);
    for (const text of ['a', 'b']) {
      const delivery = await taker.next();
      expect(delivery.text).toBe(text);
      await taker.answer(delivery, '1');
    }
    queue.kill('SIGTERM');
    expect(await queue.exit).toMatchObject({ code: 0, stderr: '' });
    expect(await queue.record('drained')).toMatchObject({ messages: 0 });
  });

  it('warns about a store that does not outlive it', async () => {
    const queue = programs.start('queue', [...ANY_PORT, '--store', 'memory:']);
    expect(await queue.record('listening')).toMatchObject({ store: 'memory', durable: false });
    expect(
      await queue.record('messages are lost when this process ends: choose --store lmdb:FOLDER to keep them'),
    ).toMatchObject({
      level: 'warn',
    });
  });

  it('reports messages that it gives up', async () => {
    const { queue, endpoints } = await start('--max-deliveries', '1');
    await push(endpoints.receive, 'a');
    const taker = consumer(endpoints.send);
    await taker.answer(await taker.next(), '0');
    expect(await queue.record('dead-letter')).toMatchObject({ level: 'warn', seq: 1, reason: 'max-deliveries' });
  });

  it('reports peers that it does not understand, with their routing id', async () => {
    const { queue, endpoints } = await start();
    await dealer(endpoints.receive).send('alone');
    expect(await queue.record('message-dropped')).toMatchObject({
      level: 'warn',
      reason: 'produce-one-frame',
      peer: expect.stringMatching(/^00[0-9a-f]{8}$/) as string,
    });
  });

  it.each([
    ['an unknown flag', ['--recieve', 'x'], "unknown option '--recieve' (Did you mean --receive?)"],
    ['a bad endpoint', ['--send', '11132'], '--send = "11132": must be an endpoint such as'],
    [
      'a bad number',
      ['--ack-timeout-ms', '1'],
      '--ack-timeout-ms = 1: must be milliseconds as a whole number, from 10',
    ],
    ['an unknown store', ['--store', 'redis://x'], 'option store = "redis://x": must be lmdb:FOLDER'],
    [
      'a store in a folder that cannot be created',
      ['--store', 'lmdb:/proc/x'],
      'the store in /proc/x cannot be opened (ENOENT): choose a folder',
    ],
    [
      'a store in a file',
      ['--store', 'lmdb:/dev/null'],
      'the store in /dev/null cannot be opened (it is not a folder)',
    ],
    ['an operand', ['start'], 'too many arguments'],
    [
      'polling where it is not supported',
      ['--transport', 'zmq', '--poll-us', '0'],
      '--poll-us: needs --transport zmtp, because libzmq has no such limit',
    ],
    [
      'inconsistent options',
      ['--max-bytes', '1024'],
      'PzqServer: option maxBytes = 1024: must be 0 or at least maxMessageBytes',
    ],
  ])('refuses %s with exit code 2 and one line', async (_, args, line) => {
    const { code, stdout, stderr } = await programs.run('queue', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`proj-queue: `);
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('prefers flags to the environment and the environment to the file', async () => {
    const config = join(folder, 'queue.yaml');
    const store = `lmdb:${join(folder, 'data')}`;
    writeFileSync(
      config,
      `receive: ipc:///no/such/folder/socket\nsend: "${FREE}"\nmonitor: "${FREE}"\nstore: "${store}"\nlog-level: debug\nstats-ms: 60000\n`,
    );
    const env = { PROJ_QUEUE_CONFIG: config, PROJ_QUEUE_RECEIVE: FREE, PROJ_QUEUE_STATS_MS: '60001' };
    const queue = programs.start('queue', ['--stats-ms', '5'], env);
    expect(await queue.record('listening')).toMatchObject({ endpoints: { receive: BOUND } });
    expect(await queue.record('stats')).toMatchObject({ level: 'debug', messages: 0, storeState: 'ok' });
  });

  it.each(['--receive', '--send', '--monitor', '--dead-letter-send'])(
    'exits 1 with one line that names an address in use (%s), and leaves the store to others',
    async (option) => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const endpoint = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
      try {
        const args = [...ANY_PORT, '--store', `lmdb:${folder}`, option, endpoint];
        const { code, stderr } = await programs.run('queue', args);
        expect(code).toBe(1);
        expect(stderr).toMatch(/^proj-queue: [^\n]+\n$/);
        expect(stderr).toContain(endpoint);
        expect(stderr).toContain('in use');
      } finally {
        server.close();
      }
      await start();
    },
  );

  it('exits 1 with one line that names the process which has the store; that process continues', async () => {
    const { queue, endpoints } = await start();
    const { code, stderr } = await programs.run('queue', [...ANY_PORT, '--store', `lmdb:${folder}`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^proj-queue: [^\n]+\n$/);
    expect(stderr).toContain(`held by process ${queue.pid}`);
    await push(endpoints.receive, 'a');
  });

  it('exits 1 with one line that names an unreachable database, but no password', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const store = `postgres://user:secret@127.0.0.1:${port}/orders`;
    const { code, stdout, stderr } = await programs.run('queue', [...ANY_PORT, '--store', store]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^proj-queue: [^\n]+\n$/);
    expect(stderr).toContain(`127.0.0.1:${port}/orders`);
    expect(stderr).not.toContain('secret');
  });

  it.each<[string, (file: Buffer) => Buffer, string]>([
    ['is not a database', () => Buffer.from('x'.repeat(100_000)), 'is not a database'],
    ['is cut short', (file) => file.subarray(0, 5000), 'is truncated'],
    ['was written by a newer version', newer, 'has format 3, this version reads 2'],
  ])('exits 1 with one line for a store that %s, and leaves it as it is', async (_, change, words) => {
    const { queue, endpoints } = await start();
    // Enough messages that half of the file is missed.
    await push(endpoints.receive, 'x'.repeat(2_000_000));
    queue.kill('SIGTERM');
    await queue.exit;
    const file = join(folder, 'queue.mdb');
    const changed = change(readFileSync(file));
    writeFileSync(file, changed);
    const { code, stdout, stderr } = await programs.run('queue', [...ANY_PORT, '--store', `lmdb:${folder}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^proj-queue: [^\n]+\n$/);
    expect(stderr).toContain(folder);
    expect(stderr).toContain(words);
    expect(readFileSync(file).equals(changed)).toBe(true);
  });

  it('rule 16: a consumer that never acknowledges gets its share, and another gets the rest', async () => {
    const { endpoints } = await start('--transport', 'zmtp', '--max-in-flight', '8');
    const [mute, honest] = [consumer(endpoints.send), consumer(endpoints.send)];
    await Promise.all([mute.connected, honest.connected]);
    const texts = Array.from({ length: 40 }, (_, index) => String(index));
    await push(endpoints.receive, ...texts);
    const taken: string[] = [];
    while (taken.length < texts.length - 4) {
      const delivery = await honest.next();
      taken.push(delivery.text);
      await honest.answer(delivery, '1');
    }
    const left: Delivery[] = [];
    while (left.length < 4) left.push(await mute.next());
    expect(new Set([...taken, ...left.map(({ text }) => text)]).size).toBe(texts.length);
  });

  it('exits 1 with one line for a store that was damaged while closed, and says what to do', async () => {
    const { queue, endpoints } = await start();
    await push(endpoints.receive, 'x'.repeat(5000), 'other');
    queue.kill('SIGTERM');
    await queue.exit;
    const file = join(folder, 'queue.mdb');
    const bytes = readFileSync(file);
    bytes[bytes.indexOf('x'.repeat(5000)) + 9] = 0;
    writeFileSync(file, bytes);
    const { code, stdout, stderr } = await programs.run('queue', [...ANY_PORT, '--store', `lmdb:${folder}`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^proj-queue: the store in [^\n]+ is damaged \(page \d+ of table bodies [^\n]+\n$/);
    expect(stderr).toContain(`'proj queue check ${folder}'`);
  });

  it('refuses, and says that it is corrupt, if its store is damaged while open', async () => {
    const { queue, endpoints } = await start('--stats-ms', '5', '--log-level', 'debug');
    // More than it holds in memory: the last one is read from disk when its turn comes.
    const large = 'x'.repeat(40_000_000);
    await push(endpoints.receive, `1${large}`, `2${large}`, `3${large}`);
    const file = openSync(join(folder, 'queue.mdb'), 'r+');
    const bytes = readFileSync(join(folder, 'queue.mdb'));
    writeSync(file, '?', bytes.indexOf(`3${large}`) + 1_000_000);
    closeSync(file);
    const taker = consumer(endpoints.send);
    for (const text of ['1', '2']) {
      const delivery = await taker.next();
      expect(delivery.text[0]).toBe(text);
      await taker.answer(delivery, '1');
    }
    expect(await queue.record('corrupt')).toMatchObject({
      level: 'error',
      what: `message 3 of the store in ${folder} does not match its checksum: see 'proj queue check ${folder}'`,
    });
    const producer = dealer(endpoints.receive);
    await producer.send(['id', '', 'more']);
    expect((await producer.receive()).map(String)).toEqual(['id', '0', '', 'Store is unavailable: CORRUPT']);
    const watcher = dealer(endpoints.monitor);
    await watcher.send(['', 'MONITOR']);
    expect(String((await watcher.receive())[1])).toContain('\nstore_state: corrupt\n');
    queue.kill('SIGTERM');
    expect(await queue.exit).toMatchObject({ code: 0, stderr: '' });
  });

  it('drains when its parent at the other end of an IPC channel exits', async () => {
    const queue = fork(programPath('queue'), [...ANY_PORT, '--store', 'memory:'], { silent: true });
    const exit = once(queue, 'exit');
    // It either speaks or ends; the latter is the failure below.
    await Promise.race([once(queue.stdout as Readable, 'data'), exit]);
    queue.disconnect();
    expect(await exit).toEqual([0, null]);
  });

  it('has a guide with the options of its help', async () => {
    const { guide, drawn } = await drawnGuide('queue');
    expect(guide).toBe(drawn);
  });

  it('explains itself', async () => {
    const { code, stdout } = await programs.run('queue', ['--help']);
    expect(code).toBe(0);
    for (const part of ['--receive <ENDPOINT>', 'tcp://127.0.0.1:11131)', 'Examples:', 'PROJ_QUEUE_'])
      expect(stdout).toContain(part);
    expect(await programs.run('queue', ['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });
});

/** Changes the record with the format number to the next format, wherever there is a copy of it. */
function newer(file: Buffer): Buffer {
  const changed = Buffer.from(file);
  for (let at = changed.indexOf('PZQ\n'); at >= 0; at = changed.indexOf('PZQ\n', at + 1))
    changed.writeUInt32BE(3, at + 4);
  return changed;
}

it('--access says which key may push and which may consume, also after the file has changed', async () => {
  const own = mkdtempSync(join(tmpdir(), 'keys-'));
  after.push(own);
  const certificate = async (name: string) => {
    const { publicKey, secretFile } = await writeKeyPair(join(own, name));
    const [, secretKey = ''] = /secret-key = "(.{40})"/.exec(readFileSync(secretFile, 'utf8')) ?? [];
    return { publicKey, secretKey, secretFile };
  };
  const [server, ada, bob] = [await certificate('server'), await certificate('ada'), await certificate('bob')];
  const file = join(own, 'access.json');
  const put = (pusher: typeof ada, consumer: typeof ada) => {
    const rules = [
      { keys: [pusher.publicKey], request: ['orders'] },
      { keys: [consumer.publicKey], serve: ['orders'] },
    ];
    writeFileSync(`${file}.new`, JSON.stringify(rules));
    renameSync(`${file}.new`, file);
  };
  put(ada, bob);
  const flags = ['--name', 'orders', '--transport', 'zmtp', '--curve-secret-key', server.secretFile];
  const { queue, endpoints } = await start(...flags, '--access', file);
  const curveOf = ({ publicKey, secretKey }: typeof ada) => ({
    linger: 0,
    curveServerKey: server.publicKey,
    curvePublicKey: publicKey,
    curveSecretKey: secretKey,
  });
  const pusherAs = (keys: typeof ada) => {
    const socket = new Dealer(curveOf(keys));
    sockets.push(socket);
    socket.connect(endpoints.receive);
    return async (id: string) => {
      await socket.send([id, '', id]);
      return (await socket.receive()).map(String);
    };
  };
  const consumerAs = (keys: typeof ada) => {
    const socket = new Router(curveOf(keys));
    sockets.push(socket);
    socket.connect(endpoints.send);
    return socket;
  };
  const [pushAda, pushBob] = [pusherAs(ada), pusherAs(bob)];
  expect(await pushAda('1')).toEqual(['1', '1', '']);
  expect(await pushBob('2')).toEqual(['2', '0', '', 'Not allowed']);
  const first = consumerAs(bob);
  const [peer, key, , , , body] = await first.receive();
  expect(String(body)).toBe('1');
  await first.send([peer as Buffer, key as Buffer, '1']);

  put(bob, ada);
  await queue.record('access rules', { rules: 2 });
  while ((await pushBob('3'))[1] !== '1');
  const second = consumerAs(ada);
  expect(await pushAda('4')).toEqual(['4', '0', '', 'Not allowed']);
  expect(String((await second.receive())[5])).toBe('3');
});
