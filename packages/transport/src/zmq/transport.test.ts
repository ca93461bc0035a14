import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { ROUTER_PEER } from '../port.js';
import type { SocketPort } from '../port.js';
import { systemEntropy, zmqTransport } from './index.js';
import { Journal } from './test/fake-socket.js';
import { loadZeroMq } from './load.js';
import { ZmqTransport } from './transport.js';

const ports: SocketPort[] = [];
afterEach(() => Promise.all(ports.splice(0).map((port) => port.close())));

describe('zmqTransport', () => {
  it('is one transport for the whole process', () => {
    expect(zmqTransport()).toBe(zmqTransport());
  });

  it('opens no socket before it is loaded', () => {
    expect(() => new ZmqTransport().router()).toThrow('await load() before');
  });

  it('loads once, however often it is asked', async () => {
    let loads = 0;
    const transport = new ZmqTransport(() => {
      loads++;
      return Promise.resolve(zmq);
    });
    await Promise.all([transport.load(), transport.load()]);
    await transport.load();

    expect(loads).toBe(1);
  });

  it.each([
    ['bun', 'ends the whole process on Bun 9.8.7'],
    ['deno', 'hears nothing on Deno 9.8.7'],
  ])('is not loaded where its add-on loads and fails: %s', async (runtime, sentence) => {
    const importer = () => expect.fail('loaded');
    const loading = loadZeroMq(importer, { ...process.versions, [runtime]: '9.8.7' });
    await expect(loading).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`${sentence}: omit the option transport`) as string,
    });
  });

  it('L10: says in one sentence why the addon cannot be loaded, and what to do', async () => {
    const cause = new Error('No native build was found\nRequire stack: ...');
    const transport = new ZmqTransport(() => Promise.reject(cause));
    const machine = `${process.platform} ${process.arch}, Node.js ${process.version} with ABI ${process.versions.modules}`;

    await expect(transport.load()).rejects.toMatchObject({ code: 'UNAVAILABLE', cause });
    await expect(transport.load()).rejects.toThrow(
      new RegExp(
        `^zeromq cannot be loaded on ${machine.replaceAll('.', '\\.')}, (glibc [\\d.]+|musl|libc of the system): No native`,
      ),
    );
    await expect(transport.load()).rejects.toThrow(/npm rebuild zeromq/);
    await expect(transport.load()).rejects.not.toThrow(/\n/);
  });

  it('L1: has a context of its own that does not delay the exit of the process', async () => {
    const made: zmq.Context[] = [];
    class Context extends zmq.Context {
      constructor(options?: object) {
        super(options);
        made.push(this);
      }
    }
    await new ZmqTransport(() => Promise.resolve({ ...zmq, Context })).load();

    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({ blocky: false });
    expect(made[0]).not.toBe(zmq.context);
  });
});

describe('systemEntropy', () => {
  it('gives the wall clock in whole microseconds', () => {
    const before = Date.now() * 1000;
    const now = systemEntropy.wallMicros();

    expect(Number.isSafeInteger(now)).toBe(true);
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now() * 1000);
  });

  it('gives lower-case UUIDs of version 4, each one new', () => {
    const uuids = [systemEntropy.uuid(), systemEntropy.uuid()];

    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuids[0]).not.toBe(uuids[1]);
  });

  it('gives numbers from 0 to below 1', () => {
    const numbers = Array.from({ length: 1_000 }, () => systemEntropy.random());

    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(numbers).size).toBeGreaterThan(990);
  });
});

describe('with connectedOnly', () => {
  /** A dealer that has sent a message to a server that accepts, receives the greeting and answers nothing. */
  async function sendToMute(transport: ZmqTransport) {
    await transport.load();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const greeted = new Promise((resolve) => {
      server.once('connection', (socket) => {
        socket.on('error', resolve).once('data', resolve);
      });
    });
    const port = transport.dealer({ lingerMs: 0 });
    ports.push(port);
    port.connect(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
    port.start(new Journal());
    port.send(ROUTER_PEER, [Buffer.from('x')]);
    await greeted;
    server.close();
    return port;
  }

  it('a dealer keeps its messages until the handshake is done, or until it connects', async () => {
    expect((await sendToMute(new ZmqTransport(undefined, { connectedOnly: true }))).pending).toBe(1);
    expect((await sendToMute(new ZmqTransport())).pending).toBe(0);
  });
});
