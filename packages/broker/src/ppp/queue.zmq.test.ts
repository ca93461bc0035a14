/** The facade over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import type { PppQueueOptions } from './options.js';
import { PppQueue } from './queue.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

interface Started {
  readonly queue: PppQueue;
  readonly frontend: string;
  readonly backend: string;
}

async function start(options: PppQueueOptions = {}): Promise<Started> {
  const any = 'tcp://127.0.0.1:*';
  const queue = new PppQueue({ frontend: any, backend: any, lingerMs: 0, ...options });
  open.push(queue);
  const { frontend, backend } = await queue.start();
  return { queue, frontend: frontend[0] ?? '', backend: backend[0] ?? '' };
}

function peer(endpoint: string, routingId?: string): TextPeer {
  const options = routingId === undefined ? {} : { routingId: Buffer.from(routingId, 'latin1') };
  const made = TextPeer.connect(zmqTransport(), endpoint, options);
  open.push(made);
  return made;
}

async function ready({ queue, backend }: Started, routingId?: string): Promise<TextPeer> {
  const worker = peer(backend, routingId);
  const registered = new Promise((resolve) => queue.on('worker-ready', resolve));
  worker.send('\x01');
  await registered;
  return worker;
}

describe('over real sockets', () => {
  it('serves a request of 1 MiB, empty and binary frames byte for byte', async () => {
    const started = await start();
    const worker = await ready(started);
    const client = peer(started.frontend);
    const content = ['\x00\xff', '', 'x'.repeat(1 << 20)];
    client.send('', ...content);
    const [address = '', ...rest] = await worker.next();
    expect(rest).toEqual(['', ...content]);
    worker.send(address, '', ...content);
    expect(await client.next()).toEqual(['', ...content]);
  });

  it('rule 18: carries routing ids of any bytes', async () => {
    const started = await start();
    const worker = await ready(started, '\xff\x00w');
    const client = peer(started.frontend, '\xfe\x00c');
    client.send('', 'hello');
    const [address = ''] = await worker.next();
    expect(address).toBe('\xfe\x00c');
    worker.send(address, '', 'done');
    expect(await client.next()).toEqual(['', 'done']);
  });

  it('gives the job of a worker whose connection ends to another one at once', async () => {
    const started = await start();
    const first = await ready(started);
    const second = await ready(started);
    peer(started.frontend).send('', 'hello');
    await first.next();
    await first.close();
    expect((await second.next()).at(-1)).toBe('hello');
  });

  it('answers 2000 pipelined requests, once each and in order', async () => {
    const started = await start();
    const worker = await ready(started);
    const client = peer(started.frontend);
    for (let i = 0; i < 2000; i++) client.send('', `${i}`);
    for (let i = 0; i < 2000; i++) {
      const [address = '', , body = ''] = await worker.next();
      worker.send(address, '', body);
    }
    for (let i = 0; i < 2000; i++) expect(await client.next()).toEqual(['', `${i}`]);
    expect(started.queue.stats().counters).toMatchObject({ requests: 2000, replies: 2000 });
  });

  it('rule 17: a restarted worker with a fixed routing id takes over from its dead connection, job and all', async () => {
    const started = await start({ transport: zmqTransport() });
    const before = await ready(started, 'fixed');
    const client = peer(started.frontend);
    client.send('', 'hello');
    await before.next();
    const again = peer(started.backend, 'fixed');
    again.send('\x01');
    const [address = '', , body] = await again.next();
    expect(body).toBe('hello');
    again.send(address, '', 'done');
    expect(await client.next()).toEqual(['', 'done']);
  });

  it('rule 17: a restarted client with a fixed routing id gets the reply to its request', async () => {
    const started = await start({ transport: zmqTransport() });
    const worker = await ready(started);
    peer(started.frontend, 'fixed').send('', 'before');
    const [address = ''] = await worker.next();
    const again = peer(started.frontend, 'fixed');
    again.send('', 'after');
    worker.send(address, '', 'done');
    const [, , second] = await worker.next();
    expect(second).toBe('after');
    worker.send(address, '', 'done again');
    expect((await again.next(([, body]) => body === 'done again')).at(-1)).toBe('done again');
  });

  it('rejects an address in use with a message that names it', async () => {
    const { frontend } = await start();
    const other = new PppQueue({ frontend, backend: 'tcp://127.0.0.1:*' });
    open.push(other);
    await expect(other.start()).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: expect.stringContaining(frontend) as unknown,
    });
  });
});
