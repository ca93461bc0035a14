/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { advance, settle, VirtualNetwork, type VirtualTransport } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { MdpBroker } from './broker.js';
import type { MdpBrokerOptions } from './options.js';

const ENDPOINT = 'tcp://sim:5555';

let network: VirtualNetwork;
let brokerHost: VirtualTransport;
let broker: MdpBroker;
const peers: TextPeer[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  const closing = [broker.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

async function start(options: MdpBrokerOptions = {}): Promise<string[]> {
  brokerHost = network.transport('broker');
  broker = new MdpBroker({ endpoint: ENDPOINT, transport: brokerHost, lingerMs: 0, ...options });
  return settle(network.clock, broker.start());
}

function peer(name: string, endpoint = ENDPOINT): TextPeer {
  const made = TextPeer.connect(network.transport(name), endpoint);
  peers.push(made);
  return made;
}

function next(of: TextPeer): Promise<readonly string[]> {
  return settle(network.clock, of.next());
}

async function ready(name: string, service = 'echo'): Promise<TextPeer> {
  const made = peer(name);
  const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
  made.send('MDPW02', '\x01', service);
  await settle(network.clock, registered);
  return made;
}

describe('serving', () => {
  it('takes a 0.2 request to a worker and the reply back', async () => {
    await start();
    const worker = await ready('w1');
    const client = peer('c1');
    client.send('MDPC02', '\x01', 'echo', 'two', '', 'frames');
    const [header, command, address, ...rest] = await next(worker);
    expect([header, command, ...rest]).toEqual(['MDPW02', '\x02', '', 'two', '', 'frames']);
    worker.send('MDPW02', '\x03', address ?? '', '', 'part');
    worker.send('MDPW02', '\x04', address ?? '', '', 'end', '');
    expect(await next(client)).toEqual(['MDPC02', '\x02', 'echo', 'part']);
    expect(await next(client)).toEqual(['MDPC02', '\x03', 'echo', 'end', '']);
  });

  it('does the same for 0.1', async () => {
    await start();
    const worker = peer('w1');
    worker.send('', 'MDPW01', '\x01', 'echo');
    const client = peer('c1');
    client.send('', 'MDPC01', 'echo', 'hello');
    const [empty, header, command, address, ...rest] = await next(worker);
    expect([empty, header, command, ...rest]).toEqual(['', 'MDPW01', '\x02', '', 'hello']);
    worker.send('', 'MDPW01', '\x03', address ?? '', '', 'done');
    expect(await next(client)).toEqual(['', 'MDPC01', 'echo', 'done']);
  });

  it('binds one ROUTER to several endpoints, for clients and workers separately (rule 1)', async () => {
    const [front, back] = await start({ endpoint: ['tcp://sim:5001', 'tcp://sim:5002'] });
    const worker = peer('w1', back);
    worker.send('MDPW02', '\x01', 'echo');
    const client = peer('c1', front);
    client.send('MDPC02', '\x01', 'echo', 'hello');
    const [, , address] = await next(worker);
    worker.send('MDPW02', '\x04', address ?? '', '', 'done');
    expect(await next(client)).toEqual(['MDPC02', '\x03', 'echo', 'done']);
  });

  it('sends heartbeats by the clock', async () => {
    await start({ heartbeatIntervalMs: 1000 });
    const worker = await ready('w1');
    const registeredAt = network.clock.now();
    const heartbeat = await settle(
      network.clock,
      worker.next(() => true),
    );
    expect(heartbeat).toEqual(['MDPW02', '\x05']);
    expect(network.clock.now() - registeredAt).toBeCloseTo(1001, 6);
  });

  it('with acceptLeadingEmpty, answers a worker behind an empty frame in the same way, and survives its loss', async () => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start({ acceptLeadingEmpty: true });
    const host = network.transport('w1');
    const worker = TextPeer.connect(host, ENDPOINT);
    worker.send('', 'MDPW02', '\x01', 'echo');
    const client = peer('c1');
    client.send('MDPC02', '\x01', 'echo', 'hello');
    expect((await next(worker)).slice(0, 3)).toEqual(['', 'MDPW02', '\x02']);
    network.crash(host);
    const lost = new Promise((resolve) => broker.on('worker-lost', resolve));
    expect(await settle(network.clock, lost)).toMatchObject({ reason: 'unreachable' });
  });

  it('drops and counts malformed messages', async () => {
    await start();
    const note = new Promise((resolve) => broker.on('note', resolve));
    peer('x').send('nonsense');
    expect(await settle(network.clock, note)).toMatchObject({ code: 'message-dropped', reason: 'unknown-header' });
    expect(broker.stats().counters.dropped['unknown-header']).toBe(1);
  });

  it('drops and counts what exceeds the limits of a message', async () => {
    await start({ maxMessageFrames: 8 });
    const note = new Promise((resolve) => broker.on('note', resolve));
    peer('x').send('MDPC02', '\x01', 'echo', '1', '2', '3', '4', '5', '6');
    expect(await settle(network.clock, note)).toMatchObject({ reason: 'too-many-frames' });
  });
});

describe('losing peers', () => {
  it.each([true, false])('gives the job of a crashed worker to another (disconnect notices: %s)', async (notices) => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: notices });
    await start();
    const host = network.transport('w1');
    const first = TextPeer.connect(host, ENDPOINT);
    first.send('MDPW02', '\x01', 'echo');
    const client = peer('c1');
    client.send('MDPC02', '\x01', 'echo', 'hello');
    await next(first);
    const second = await ready('w2');
    network.crash(host);
    const [, , address, , body] = await next(second);
    expect(body).toBe('hello');
    second.send('MDPW02', '\x04', address ?? '', '', 'done');
    expect(await next(client)).toEqual(['MDPC02', '\x03', 'echo', 'done']);
    expect(broker.stats().counters).toMatchObject({ requests: 1, resends: 1, replies: 1 });
  });

  it('loses an idle worker the moment its connection ends', async () => {
    await start();
    const host = network.transport('w1');
    TextPeer.connect(host, ENDPOINT).send('MDPW02', '\x01', 'echo');
    await settle(network.clock, new Promise((resolve) => broker.on('worker-ready', resolve)));
    const lost = new Promise((resolve) => broker.on('worker-lost', resolve));
    const before = network.clock.now();
    network.crash(host);
    expect(await settle(network.clock, lost)).toMatchObject({ reason: 'gone' });
    expect(network.clock.now() - before).toBeLessThan(10);
  });

  it('counts the reply to a client that has crashed unnoticed', async () => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start();
    const worker = await ready('w1');
    const host = network.transport('c1');
    TextPeer.connect(host, ENDPOINT).send('MDPC02', '\x01', 'echo', 'hello');
    const [, , address] = await next(worker);
    network.crash(host);
    const note = new Promise((resolve) => broker.on('note', resolve));
    worker.send('MDPW02', '\x04', address ?? '', '', 'done');
    expect(await settle(network.clock, note)).toMatchObject({ code: 'reply-dropped', reason: 'reply-undeliverable' });
  });

  it("notices within 16 s, by the connection's heartbeats, that a client has vanished", async () => {
    await start();
    const host = network.transport('c1');
    TextPeer.connect(host, ENDPOINT).send('MDPC02', '\x01', 'nobody', 'hello');
    await advance(network.clock, 1000);
    network.crash(host, { silent: true });
    const note = new Promise((resolve) => broker.on('note', resolve));
    const before = network.clock.now();
    expect(await settle(network.clock, note)).toMatchObject({ code: 'request-dropped', reason: 'client-gone' });
    expect(network.clock.now() - before).toBeLessThanOrEqual(16_000);
  });
});

describe('start', () => {
  it('resolves to the endpoints with wildcard ports filled in', async () => {
    const bound = await start({ endpoint: ['tcp://sim:*', 'tcp://sim:7777'] });
    expect(bound[0]).toMatch(/^tcp:\/\/sim:\d+$/);
    expect(bound[1]).toBe('tcp://sim:7777');
  });

  it('requests a socket that holds as many replies as a client may have open requests (rule 19)', async () => {
    const transport = network.transport('broker');
    const router = vi.spyOn(transport, 'router');
    broker = new MdpBroker({ endpoint: ENDPOINT, transport, clientRequestsMax: 77_777, requestQueueMax: 10 });
    await settle(network.clock, broker.start());
    expect(router).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ peerQueueMax: 77_777, queueMax: 77_777, handover: true }),
    );
  });

  it('starts once, however often it is called', async () => {
    await start();
    expect(broker.start()).toBe(broker.start());
  });

  it('rejects with ADDRESS_IN_USE and leaves nothing bound', async () => {
    await start({ endpoint: 'tcp://sim:1' });
    const late = new MdpBroker({ endpoint: ['tcp://sim:2', 'tcp://sim:1'], transport: network.transport('late') });
    await expect(settle(network.clock, late.start())).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    const next = new MdpBroker({ endpoint: 'tcp://sim:2', transport: network.transport('next') });
    await settle(network.clock, next.start());
    await settle(network.clock, Promise.all([late.close(), next.close()]));
  });

  it('rejects with CLOSED after close', async () => {
    await start();
    const transport = network.transport('late');
    transport.load = () => Promise.reject(new Error('no sockets expected'));
    const late = new MdpBroker({ endpoint: 'tcp://sim:2', transport });
    await late.close();
    await expect(late.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('rejects with CLOSED when closed meanwhile, and leaves nothing bound', async () => {
    await start();
    const late = new MdpBroker({ endpoint: 'tcp://sim:2', transport: network.transport('late') });
    const starting = late.start();
    const closing = late.close();
    await expect(settle(network.clock, starting)).rejects.toMatchObject({ code: 'CLOSED' });
    await settle(network.clock, closing);
    const next = new MdpBroker({ endpoint: 'tcp://sim:2', transport: network.transport('next') });
    await settle(network.clock, next.start());
    await settle(network.clock, next.close());
  });
});

describe('drain', () => {
  it('lets running jobs finish, sends DISCONNECT, closes', async () => {
    await start({ lingerMs: 1000 });
    const worker = await ready('w1');
    const client = peer('c1');
    client.send('MDPC02', '\x01', 'echo', 'hello');
    const [, , address] = await next(worker);
    const drained = broker.drain();
    worker.send('MDPW02', '\x04', address ?? '', '', 'done');
    expect(await next(client)).toEqual(['MDPC02', '\x03', 'echo', 'done']);
    expect(await next(worker)).toEqual(['MDPW02', '\x06']);
    await settle(network.clock, drained);
    const successor = new MdpBroker({ endpoint: ENDPOINT, transport: network.transport('successor'), lingerMs: 0 });
    expect(await settle(network.clock, successor.start())).toEqual([ENDPOINT]);
    await settle(network.clock, successor.close());
  });

  it('ends after drainMs', async () => {
    await start({ drainMs: 500 });
    const worker = await ready('w1');
    peer('c1').send('MDPC02', '\x01', 'echo', 'hello');
    await next(worker);
    const before = network.clock.now();
    await settle(network.clock, broker.drain());
    expect(network.clock.now() - before).toBeGreaterThanOrEqual(500);
    expect(network.clock.now() - before).toBeLessThan(600);
  });

  it('ends when close overtakes it', async () => {
    await start();
    const worker = await ready('w1');
    peer('c1').send('MDPC02', '\x01', 'echo', 'hello');
    await next(worker);
    const drained = broker.drain();
    await advance(network.clock, 10);
    await settle(network.clock, broker.close());
    await settle(network.clock, drained);
  });

  it('of a broker that was never started closes it', async () => {
    brokerHost = network.transport('broker');
    broker = new MdpBroker({ endpoint: ENDPOINT, transport: brokerHost });
    await broker.drain();
    await expect(broker.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('close', () => {
  it('closes once, however often it is called', async () => {
    await start();
    expect(broker.close()).toBe(broker.close());
    expect(broker[Symbol.asyncDispose]()).toBe(broker.close());
  });

  it('ends heartbeats and every other timer', async () => {
    await start();
    await ready('w1');
    await settle(network.clock, broker.close());
    expect(broker.stats().counters.heartbeatsSent).toBe(0);
  });
});

describe('events', () => {
  it('report workers, and no more once the listener is removed', async () => {
    await start();
    const seen: unknown[] = [];
    const remove = broker.on('worker-ready', (notice) => seen.push([notice.service, notice.version]));
    await ready('w1', 'one');
    remove();
    await ready('w2', 'two');
    expect(seen).toEqual([['one', '0.2']]);
  });

  it('report why a worker was lost', async () => {
    await start();
    const worker = await ready('w1');
    const lost = new Promise((resolve) => broker.on('worker-lost', resolve));
    worker.send('MDPW02', '\x06');
    expect(await settle(network.clock, lost)).toMatchObject({ service: 'echo', reason: 'disconnected' });
  });
});

describe('stats', () => {
  it('is a snapshot of plain data', async () => {
    await start();
    const before = broker.stats();
    await ready('w1');
    expect(before).toMatchObject({ workers: 0, services: [] });
    expect(broker.stats()).toMatchObject({
      workers: 1,
      openRequests: 0,
      services: [{ name: 'echo', version: '0.2', workers: 1, busy: 0, waiting: 0 }],
    });
    expect(JSON.parse(JSON.stringify(broker.stats()))).toEqual(broker.stats());
  });
});
