/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import type { PppQueueOptions } from './options.js';
import { PppQueue, type PppQueueEndpoints } from './queue.js';

const FRONTEND = 'tcp://sim:5556';
const BACKEND = 'tcp://sim:5557';

let network: VirtualNetwork;
let queue: PppQueue;
const peers: TextPeer[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  const closing = [queue.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

function make(options: PppQueueOptions = {}, host = 'queue'): PppQueue {
  const transport = network.transport(host);
  return new PppQueue({ frontend: FRONTEND, backend: BACKEND, transport, lingerMs: 0, ...options });
}

async function start(options: PppQueueOptions = {}): Promise<PppQueueEndpoints> {
  queue = make(options);
  return settle(network.clock, queue.start());
}

function peer(name: string, endpoint: string): TextPeer {
  const made = TextPeer.connect(network.transport(name), endpoint);
  peers.push(made);
  return made;
}

function next(of: TextPeer): Promise<readonly string[]> {
  return settle(network.clock, of.next());
}

async function ready(name: string, endpoint = BACKEND): Promise<TextPeer> {
  const made = peer(name, endpoint);
  const registered = new Promise((resolve) => queue.on('worker-ready', resolve));
  made.send('\x01');
  await settle(network.clock, registered);
  return made;
}

describe('serving', () => {
  it('takes a request to a worker and the reply back, hops and frames unchanged', async () => {
    await start();
    const worker = await ready('w1');
    const client = peer('c1', FRONTEND);
    client.send('hop', '', 'two', '', 'frames');
    const [address = '', ...rest] = await next(worker);
    expect(rest).toEqual(['hop', '', 'two', '', 'frames']);
    worker.send(address, 'hop', '', 'done', '');
    expect(await next(client)).toEqual(['hop', '', 'done', '']);
  });

  it('binds each side to several endpoints', async () => {
    const bound = await start({ frontend: ['tcp://sim:*', 'tcp://sim:2'], backend: ['tcp://sim:3', 'tcp://sim:4'] });
    expect(bound.frontend[0]).toMatch(/^tcp:\/\/sim:\d+$/);
    expect(bound).toMatchObject({
      frontend: [bound.frontend[0], 'tcp://sim:2'],
      backend: ['tcp://sim:3', 'tcp://sim:4'],
    });
    const worker = await ready('w1', 'tcp://sim:4');
    peer('c1', bound.frontend[0] ?? '').send('', 'hello');
    expect((await next(worker)).at(-1)).toBe('hello');
  });

  it('rule 5: the sides are separate: READY at the frontend does not register, a request at the backend is not served', async () => {
    await start();
    const stray = peer('x', FRONTEND);
    stray.send('\x01');
    const misled = peer('y', BACKEND);
    misled.send('', 'hello');
    const note = new Promise((resolve) =>
      queue.on('note', ({ code }) => {
        if (queue.stats().counters.dropped['reply-malformed'] === 1) resolve(code);
      }),
    );
    await settle(network.clock, note);
    expect(queue.stats()).toMatchObject({ workers: 0, openRequests: 0 });
  });

  it('sends heartbeats by the clock, one byte each', async () => {
    await start();
    const worker = await ready('w1');
    const registeredAt = network.clock.now();
    const heartbeat = await settle(
      network.clock,
      worker.next(() => true),
    );
    expect(heartbeat).toEqual(['\x02']);
    expect(network.clock.now() - registeredAt).toBeCloseTo(1001, 6);
  });

  it('drops and counts what exceeds the limits of a message', async () => {
    await start({ maxMessageFrames: 8 });
    const note = new Promise((resolve) => queue.on('note', resolve));
    peer('x', FRONTEND).send('', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    expect(await settle(network.clock, note)).toMatchObject({ reason: 'too-large', socket: 'frontend' });
  });
});

describe('losing peers', () => {
  it.each([true, false])('gives the job of a crashed worker to another (disconnect notices: %s)', async (notices) => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: notices });
    await start();
    const host = network.transport('w1');
    const first = TextPeer.connect(host, BACKEND);
    first.send('\x01');
    const client = peer('c1', FRONTEND);
    client.send('', 'hello');
    await next(first);
    const second = await ready('w2');
    network.crash(host);
    const [address = '', , body] = await next(second);
    expect(body).toBe('hello');
    second.send(address, '', 'done');
    expect(await next(client)).toEqual(['', 'done']);
    expect(queue.stats().counters).toMatchObject({ requests: 1, resends: 1, replies: 1 });
  });

  it('rule 12: notices by an undeliverable heartbeat that a worker has crashed', async () => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start();
    const host = network.transport('w1');
    TextPeer.connect(host, BACKEND).send('\x01');
    const lost = new Promise((resolve) => queue.on('worker-lost', resolve));
    await settle(network.clock, new Promise((resolve) => queue.on('worker-ready', resolve)));
    network.crash(host);
    expect(await settle(network.clock, lost)).toMatchObject({ reason: 'unreachable' });
  });

  it('counts the reply to a client that has crashed unnoticed', async () => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start();
    const worker = await ready('w1');
    const host = network.transport('c1');
    TextPeer.connect(host, FRONTEND).send('', 'hello');
    const [address = ''] = await next(worker);
    network.crash(host);
    const note = new Promise((resolve) => queue.on('note', resolve));
    worker.send(address, '', 'done');
    expect(await settle(network.clock, note)).toMatchObject({ code: 'reply-dropped', reason: 'reply-undeliverable' });
  });

  it('rule 15: drops the waiting request of a client that has gone', async () => {
    await start();
    const client = peer('c1', FRONTEND);
    client.send('', 'hello');
    await advance(network.clock, 100);
    expect(queue.stats().waiting).toBe(1);
    const note = new Promise((resolve) => queue.on('note', resolve));
    await settle(network.clock, client.close());
    expect(await settle(network.clock, note)).toMatchObject({ code: 'request-dropped', reason: 'client-gone' });
  });
});

describe('start', () => {
  it('starts once, however often it is called', async () => {
    await start();
    expect(queue.start()).toBe(queue.start());
  });

  it.each(['frontend', 'backend'] as const)('rejects when the %s is taken, and leaves nothing bound', async (side) => {
    await start();
    const endpoints = { frontend: 'tcp://sim:1', backend: 'tcp://sim:2' };
    const late = make({ ...endpoints, [side]: side === 'frontend' ? FRONTEND : BACKEND }, 'late');
    await expect(settle(network.clock, late.start())).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    const successor = make(endpoints, 'next');
    await settle(network.clock, successor.start());
    await settle(network.clock, Promise.all([late.close(), successor.close()]));
  });

  it('rejects with CLOSED after close, and when closed meanwhile', async () => {
    await start();
    const closed = make({ frontend: 'tcp://sim:1', backend: 'tcp://sim:2' }, 'closed');
    await closed.close();
    await expect(closed.start()).rejects.toMatchObject({ code: 'CLOSED' });
    const overtaken = make({ frontend: 'tcp://sim:1', backend: 'tcp://sim:2' }, 'overtaken');
    const starting = overtaken.start();
    const closing = overtaken.close();
    await expect(settle(network.clock, starting)).rejects.toMatchObject({ code: 'CLOSED' });
    await settle(network.clock, closing);
  });
});

describe('drain and close', () => {
  it('rule 19: running jobs finish, their replies arrive, both sockets close', async () => {
    await start({ lingerMs: 1000 });
    const worker = await ready('w1');
    const client = peer('c1', FRONTEND);
    client.send('', 'hello');
    const [address = ''] = await next(worker);
    const drained = queue.drain();
    worker.send(address, '', 'done');
    expect(await next(client)).toEqual(['', 'done']);
    await settle(network.clock, drained);
    const successor = make({}, 'successor');
    await settle(network.clock, successor.start());
    await settle(network.clock, successor.close());
  });

  it('rule 19: ends after drainMs', async () => {
    await start({ drainMs: 500 });
    const worker = await ready('w1');
    peer('c1', FRONTEND).send('', 'hello');
    await next(worker);
    const before = network.clock.now();
    await settle(network.clock, queue.drain());
    expect(network.clock.now() - before).toBeGreaterThanOrEqual(500);
    expect(network.clock.now() - before).toBeLessThan(600);
  });

  it('a drain ends when close overtakes it', async () => {
    await start();
    const worker = await ready('w1');
    peer('c1', FRONTEND).send('', 'hello');
    await next(worker);
    const drained = queue.drain();
    await settle(network.clock, queue.close());
    await settle(network.clock, drained);
  });

  it('happen once, however often they are called', async () => {
    await start();
    expect(queue.close()).toBe(queue.close());
    expect(queue[Symbol.asyncDispose]()).toBe(queue.close());
    expect(queue.drain()).toBe(queue.drain());
    await settle(network.clock, queue.drain());
  });
});

describe('events and stats', () => {
  it('report workers, and no more once the listener is removed', async () => {
    await start();
    const seen: string[] = [];
    const remove = queue.on('worker-ready', (notice) => seen.push(notice.kind));
    await ready('w1');
    remove();
    await ready('w2');
    expect(seen).toEqual(['worker-ready']);
  });

  it('report why a worker was lost', async () => {
    await start();
    const worker = await ready('w1');
    const lost = new Promise((resolve) => queue.on('worker-lost', resolve));
    await settle(network.clock, worker.close());
    expect(await settle(network.clock, lost)).toMatchObject({ reason: 'gone' });
  });

  it('are snapshots of plain data', async () => {
    await start();
    const before = queue.stats();
    await ready('w1');
    expect(before).toMatchObject({ workers: 0 });
    expect(queue.stats()).toMatchObject({ workers: 1, busy: 0, waiting: 0, openRequests: 0, openBytes: 0, clients: 0 });
    expect(JSON.parse(JSON.stringify(queue.stats()))).toEqual(queue.stats());
  });
});
