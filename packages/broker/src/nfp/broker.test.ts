/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { MemoryBudget } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import { advance, settle, VirtualNetwork, type VirtualTransport } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { RawSubscriber } from '../../test/raw-subscriber.js';
import { NfpBroker, type NfpBrokerEvents } from './broker.js';
import type { NfpBrokerOptions } from './options.js';

const ENDPOINT = 'tcp://sim:5555';
const KEYS = generateCurveKeys();
const CURVE = { keys: KEYS };

let network: VirtualNetwork;
let broker: NfpBroker;
const peers: { close(): Promise<void> }[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  const closing = [broker.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

async function start(options: NfpBrokerOptions = {}): Promise<string[]> {
  broker = new NfpBroker({ endpoint: ENDPOINT, transport: network.transport('broker'), lingerMs: 0, ...options });
  return settle(network.clock, broker.start());
}

function peer(name: string, transport: VirtualTransport = network.transport(name)): TextPeer {
  const made = TextPeer.connect(transport, ENDPOINT, { routingId: Buffer.from(name) });
  peers.push(made);
  return made;
}

/** The next message that is not a KEEPALIVE. */
function next(of: TextPeer): Promise<readonly string[]> {
  return settle(
    network.clock,
    of.next((frames) => frames[2] !== '0x02'),
  );
}

function told<Name extends keyof NfpBrokerEvents>(event: Name): Promise<NfpBrokerEvents[Name]> {
  return settle(network.clock, new Promise<NfpBrokerEvents[Name]>((resolve) => broker.on(event, resolve)));
}

async function ready(name: string, transport?: VirtualTransport): Promise<TextPeer> {
  const made = peer(name, transport);
  const registered = told('worker-ready');
  made.send('', 'NFPW01', '0x01', 'sample');
  await registered;
  return made;
}

it('encodes a job for many workers once', async () => {
  const transport = network.transport('broker');
  const sent: unknown[] = [];
  const router = transport.router.bind(transport);
  transport.router = (...options) => {
    const port = router(...options);
    const send = port.send.bind(port);
    port.send = (to, frames) => {
      if (frames.length === 7 && Buffer.from(frames[2]!).toString() === '0x04') sent.push(frames);
      send(to, frames);
    };
    return port;
  };
  await start({ transport });
  const workers = [await ready('w1'), await ready('w2')];
  const client = peer('c1');
  for (const uuid of ['u1', 'u2']) {
    client.send('', 'NFPC01', '0x04', 'sample', 'all', uuid, '{}');
    for (const worker of workers) expect((await next(worker))[5]).toBe(uuid);
  }
  expect([sent.length, new Set(sent).size]).toEqual([4, 2]);
});

describe('rule 17: get_logs', () => {
  /** The answer to a question about the log. */
  async function logs(client: TextPeer, kwargs: object = {}): Promise<Record<string, unknown>[]> {
    client.send('', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', JSON.stringify({ task: 'get_logs', kwargs }));
    return JSON.parse((await next(client))[6] ?? '') as Record<string, unknown>[];
  }
  const messageOf = ({ message }: Record<string, unknown>) => String(message).replace(/ .*/, '');

  it('reports peers that came and went, and refusals, in records like the program’s', async () => {
    await start({ settleMs: 0 });
    const worker = await ready('w1');
    const client = peer('c1');
    client.send('', 'NFPC01', '0x04', 'nobody', 'any', 'u1', '{}');
    await next(client);
    const lost = told('worker-lost');
    worker.send('', 'NFPW01', '0x03', 'sample');
    await lost;
    const records = await logs(client);
    const source = { role: 'broker', name: 'NFPBroker', logger: 'proj.broker.nfp' };
    expect(records).toMatchObject([
      { ...source, level: 'INFO', message: 'worker-ready {"service":"sample","peer":"w1"}' },
      { ...source, level: 'WARNING', message: expect.stringContaining('call-refused {') as string },
      { ...source, level: 'WARNING', message: expect.stringContaining('"reason":"disconnected"') as string },
    ]);
    expect(records[0]?.['ts']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await logs(client, { last: 1 })).map(messageOf)).toEqual(['worker-lost']);
    expect((await logs(client, { level: 'info' })).map(messageOf)).toEqual(['worker-ready']);
    expect(await logs(client, { logger: 'other' })).toEqual([]);
    expect(await logs(client, { until: '1970' })).toEqual([]);
    expect(await logs(client, { since: '1970', last: 0 })).toHaveLength(3);
    expect(await logs(client, { last: -1, level: 7 })).toHaveLength(3);
  });

  it('keeps the last thousand, and returns the last hundred by default', async () => {
    await start();
    const client = peer('c1');
    // Several, since one connection may register only so often.
    const workers = Array.from({ length: 51 }, (_, index) => peer(`w${index}`));
    for (const worker of workers.flatMap((each) => Array.from({ length: 10 }, () => each))) {
      const registered = told('worker-ready');
      worker.send('', 'NFPW01', '0x01', 'sample');
      await registered;
      const lost = told('worker-lost');
      worker.send('', 'NFPW01', '0x03', 'sample');
      await lost;
    }
    expect(await logs(client)).toHaveLength(100);
    expect(await logs(client, { last: 0 })).toHaveLength(1000);
    // A different question does not get the cached answer to this one.
    expect(await logs(client, { last: 3 })).toHaveLength(3);
  });
});

describe('serving', () => {
  it('takes a job to a worker and its answers back', async () => {
    await start();
    const worker = await ready('w1');
    const client = peer('c1');
    client.send('', 'NFPC01', '0x04', 'sample', 'all', 'u1', '{}', '', '\xff');
    const [, , , , uuid, status, body = ''] = await next(client);
    expect([uuid, status]).toEqual(['u1', '202']);
    expect(JSON.parse(body)).toEqual({
      workers: ['w1'],
      uuid: 'u1',
      target: 'all',
      status: 'DISPATCHED',
      service: 'sample',
    });
    expect(await next(worker)).toEqual(['', 'NFPB01', '0x04', 'c1', '', 'u1', '{}', '', '\xff']);
    worker.send('', 'NFPW01', '0x05', 'c1', '', 'u1', '201', 'accepted');
    expect(await next(client)).toEqual(['', 'NFPB01', '0x05', 'sample', 'u1', '201', 'accepted']);
    worker.send('', 'NFPW01', '0x08', 'c1', '', 'u1', '200', 'event');
    expect(await next(client)).toEqual(['', 'NFPB01', '0x08', 'sample', 'u1', '200', 'event']);
  });

  it('speaks the legacy dialect', async () => {
    await start({ dialect: 'legacy' });
    const worker = await ready('w1');
    const client = peer('c1');
    client.send('', 'NFPC01', '0x04', 'sample', 'all', 'u1', '{}');
    expect((await next(client))[1]).toBe('NFPC01');
    expect((await next(worker))[1]).toBe('NFPW01');
  });

  it('sends KEEPALIVEs by the clock', async () => {
    await start({ keepaliveIntervalMs: 1000 });
    const worker = await ready('w1');
    const before = network.clock.now();
    const frames = await settle(
      network.clock,
      worker.next(() => true),
    );
    expect(frames).toEqual(['', 'NFPB01', '0x02', 'sample']);
    expect(network.clock.now() - before).toBeLessThanOrEqual(1001);
  });

  it('drops and counts what exceeds the limits of a message', async () => {
    await start({ maxMessageFrames: 8 });
    const note = told('note');
    peer('x').send('', 'NFPC01', '0x04', 'sample', 'all', 'u1', '1', '2', '3');
    expect(await note).toMatchObject({ code: 'message-dropped', reason: 'too-many-frames' });
  });
});

describe('losing peers', () => {
  it.each([true, false])('gives a job for any to another worker (disconnect notices: %s)', async (notices) => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: notices });
    await start();
    const host = network.transport('w1');
    const first = await ready('w1', host);
    const second = await ready('w2');
    const client = peer('c1');
    client.send('', 'NFPC01', '0x04', 'sample', 'any', 'u1', '{}');
    expect((await next(first))[2]).toBe('0x04');
    network.crash(host);
    expect(await next(second)).toEqual(['', 'NFPB01', '0x04', 'c1', '', 'u1', '{}']);
    expect((await next(client)).at(5)).toBe('202');
    expect((await next(client)).at(-1)).toContain('"status":"redispatched"');
    expect((await next(client)).at(-1)).toContain('"workers":["w2"]');
  });

  it.each(['0x05', '0x11'])('counts an answer (%s) to a client that crashed unnoticed', async (command) => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start();
    const worker = await ready('w1');
    const host = network.transport('c1');
    const client = peer('c1', host);
    client.send('', 'NFPC01', '0x04', 'sample', 'all', 'u1', '{}');
    await next(worker);
    network.crash(host);
    const note = told('note');
    worker.send('', 'NFPW01', command, 'c1', '', 'u1', '200', '{}');
    expect(await note).toMatchObject({ code: 'answer-dropped', reason: 'unroutable' });
    expect(broker.stats().workers).toBe(1);
  });

  it('loses a worker that an MMI call cannot be delivered to', async () => {
    network = new VirtualNetwork({ seed: 1, disconnectNotices: false });
    await start();
    const host = network.transport('w1');
    await ready('w1', host);
    network.crash(host);
    const lost = told('worker-lost');
    peer('c1').send('', 'NFPC01', '0x11', 'mmi.service.worker', 'all', '200', '{}');
    expect(await lost).toMatchObject({ reason: 'unreachable' });
  });

  it('tells a worker of an earlier broker to register again', async () => {
    await start();
    const worker = peer('w1');
    worker.send('', 'NFPW01', '0x02', 'sample');
    expect(await next(worker)).toEqual(['', 'NFPB01', '0x03', 'sample']);
  });
});

describe('life', () => {
  it('start requests a socket in which all jobs may wait for one worker', async () => {
    const transport = network.transport('broker');
    const router = vi.spyOn(transport, 'router');
    broker = new NfpBroker({ endpoint: ENDPOINT, transport, jobsMax: 777_777 });
    await settle(network.clock, broker.start());
    expect(router).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ peerQueueMax: 777_777, queueMax: 777_777, handover: true }),
    );
  });

  it('start resolves to the endpoints with wildcard ports filled in', async () => {
    const bound = await start({ endpoint: ['tcp://sim:*', 'tcp://sim:7777'] });
    expect(bound[0]).toMatch(/^tcp:\/\/sim:\d+$/);
    expect(bound[1]).toBe('tcp://sim:7777');
  });

  it('start starts once and close closes once, however often they are called', async () => {
    await start();
    expect(broker.start()).toBe(broker.start());
    expect(broker.close()).toBe(broker.close());
    expect(broker[Symbol.asyncDispose]()).toBe(broker.close());
  });

  it('drain sends DISCONNECT to workers, closes, and frees the endpoint', async () => {
    await start({ lingerMs: 1000 });
    const worker = await ready('w1');
    const drained = broker.drain();
    expect(await next(worker)).toEqual(['', 'NFPB01', '0x03', 'sample']);
    await settle(network.clock, drained);
    const successor = new NfpBroker({ endpoint: ENDPOINT, transport: network.transport('successor'), lingerMs: 0 });
    expect(await settle(network.clock, successor.start())).toEqual([ENDPOINT]);
    await settle(network.clock, successor.close());
  });

  it('rule 18: shutdown drains after the client has been told', async () => {
    await start({ managementCommands: true, lingerMs: 1000 });
    const worker = await ready('w1');
    const client = peer('c1');
    const management = told('management');
    client.send('', 'NFPC01', '0x04', 'mmi.service.broker', 'all', 'm', '{"task":"shutdown"}');
    expect((await next(client)).slice(-2)).toEqual(['200', '"shutting down"']);
    expect(await management).toMatchObject({ task: 'shutdown' });
    expect(await next(worker)).toEqual(['', 'NFPB01', '0x03', 'sample']);
    await settle(network.clock, broker.drain());
  });

  it('rule 18: the management endpoint has its own peers, even with equal routing ids', async () => {
    const management = 'tcp://sim:5999';
    await start({ managementEndpoint: management });
    expect(broker.managementEndpoints).toEqual([management]);
    const worker = await ready('same');
    const admin = TextPeer.connect(network.transport('admin'), management, { routingId: Buffer.from('same') });
    peers.push(admin);
    admin.send('', 'NFPC01', '0x04', 'mmi.service.broker', 'all', 'm', '{"task":"restart"}');
    expect((await next(admin)).slice(-2)).toEqual(['200', '"restarting"']);
    expect(await next(worker)).toEqual(['', 'NFPB01', '0x03', 'sample']);
    // Its end is not that of the worker, and what comes too late for it is not the worker's fault.
    await ready('w2');
    await settle(network.clock, admin.close());
    const client = peer('c1');
    client.send('', 'NFPC01', '0x04', 'mmi.service.broker', 'all', 'm', '{"task":"restart"}');
    expect((await next(client))[5]).toBe('400');
    expect(broker.stats().workers).toBe(1);
  });

  it('rule 22: publishes events of workers', async () => {
    await start({ publish: 'tcp://sim:9', managementEndpoint: 'tcp://sim:8' });
    expect([broker.managementEndpoints, broker.publishEndpoints]).toEqual([['tcp://sim:8'], ['tcp://sim:9']]);
    const worker = await ready('w1');
    const all = RawSubscriber.connect(network.transport('all'), 'tcp://sim:9', 'sample/');
    const one = RawSubscriber.connect(network.transport('one'), 'tcp://sim:9', 'sample/u2');
    peers.push(all, one);
    await advance(network.clock, 100);
    worker.send('', 'NFPW01', '0x08', 'c1', '', 'u1', '200', 'event 1');
    worker.send('', 'NFPW01', '0x08', 'sample', 'u2', '200', 'event 2', 'more');
    await advance(network.clock, 100);
    expect(all.heard).toEqual([
      'sample/u1|NFPB01|0x08|sample|w1|u1|200|event 1',
      'sample/u2|NFPB01|0x08|sample|w1|u2|200|event 2|more',
    ]);
    expect(one.heard).toEqual(all.heard.slice(1));
  });

  it('rule 23: events of a service are published to clients that may request it, also after the rules have changed', async () => {
    const serve = ['sample'];
    await start({ publish: 'tcp://sim:9', access: [{ keys: '*', serve }] });
    const worker = await ready('w1');
    const subscriber = RawSubscriber.connect(network.transport('all'), 'tcp://sim:9', '');
    peers.push(subscriber);
    const say = async (event: string) => {
      worker.send('', 'NFPW01', '0x08', 'sample', 'u1', '200', event);
      await advance(network.clock, 100);
    };
    await advance(network.clock, 100);
    await say('nobody may hear this');
    broker.setAccess([{ keys: '*', serve, request: ['sample'] }]);
    await say('everybody may hear this');
    broker.setAccess([{ keys: '*', serve, request: ['other'] }]);
    await say('nobody may hear this either');
    expect(subscriber.heard).toEqual(['sample/u1|NFPB01|0x08|sample|w1|u1|200|everybody may hear this']);
  });

  it('rule 20: setInventory changes what workers are told', async () => {
    const inventory = (a: number) => ({ broker: {}, topology: {}, workers: [{ glob: '*', source: '', data: { a } }] });
    await start({ inventory: inventory(1) });
    const client = peer('c1');
    const ask = async () => {
      client.send('', 'NFPC01', '0x06', 'sid.service.broker', 'all', 'm', '{"task":"get_inventory","args":["w1"]}');
      return (await next(client)).at(-1);
    };
    expect(await ask()).toBe('{"a":1}');
    broker.setInventory(inventory(2));
    expect(await ask()).toBe('{"a":2}');
  });

  it('rule 21: start rejects if the folder is not one', async () => {
    broker = new NfpBroker({ endpoint: ENDPOINT, transport: network.transport('broker'), files: '/nowhere/at/all' });
    await expect(broker.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('rule 17: show_broker reports the traffic of both endpoints, including malformed messages', async () => {
    await start({ managementEndpoint: 'tcp://sim:5556' });
    const [client, console] = [peer('c1'), TextPeer.connect(network.transport('m1'), 'tcp://sim:5556', {})];
    peers.push(console);
    const question = ['', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', '{"task":"show_broker"}'];
    const traffic = (answer: readonly string[]) => (JSON.parse(answer.at(-1) ?? '') as { traffic: unknown }).traffic;
    const size = (...messages: (readonly string[])[]) => messages.flat().join('').length;
    client.send(...question);
    const response = await next(client);
    expect(traffic(response)).toEqual({
      'messages in': 1,
      'bytes in': size(question),
      'messages out': 0,
      'bytes out': 0,
    });
    const noise = ['', 'no protocol'];
    client.send(...noise);
    await told('note');
    console.send(...question);
    expect(traffic(await next(console))).toEqual({
      'messages in': 3,
      'bytes in': size(question, noise, question),
      'messages out': 1,
      'bytes out': size(response),
    });
  });

  it('rule 17: show_broker reports the memory that the process holds, if it has a budget', async () => {
    const memory = new MemoryBudget(10_000, network.clock);
    const leave = memory.add({ heldBytes: 9000 });
    memory.look();
    await start({ transport: Object.assign(network.transport('broker'), { memory }) });
    const client = peer('c1');
    client.send('', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', '{"task":"show_broker"}');
    const told = JSON.parse((await next(client)).at(-1) ?? '') as { memory: object };
    expect(told.memory).toMatchObject({ 'max bytes': 10_000, level: 'tight', 'relieved bytes': 0 });
    expect(told.memory).toHaveProperty(['held bytes'], memory.heldBytes);
    leave();
    await advance(network.clock, 50);
  });

  it.each<[string, NfpBrokerOptions, object]>([
    ['nothing', {}, { 'zmq-auth': false, mechanism: 'NULL' }],
    ['keys', { curve: CURVE }, { 'zmq-auth': true, mechanism: 'CURVE' }],
    [
      'keys, also for management',
      { curve: CURVE, managementEndpoint: 'tcp://sim:5556' },
      { 'zmq-auth': true, mechanism: 'CURVE', 'management-mechanism': 'CURVE' },
    ],
    [
      'keys for management alone',
      { managementCurve: CURVE, managementEndpoint: 'tcp://sim:5556' },
      { 'zmq-auth': false, mechanism: 'NULL', 'management-mechanism': 'CURVE' },
    ],
  ])('rule 17: show_broker reports the security of a broker with %s, but no key', async (_, options, security) => {
    await start(options);
    const transport = network.transport('c1');
    const keys = options.curve && { curve: { role: 'client', keys: generateCurveKeys(), serverKey: KEYS.publicKey } };
    const client = TextPeer.connect(transport, ENDPOINT, { ...(keys as object) });
    peers.push(client);
    client.send('', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', '{"task":"show_broker"}');
    const shown = JSON.parse((await next(client)).at(-1) ?? '') as { security: unknown };
    expect(shown.security).toEqual({
      'broker-private-key-file': null,
      'broker-public-key-file': null,
      ...security,
    });
  });

  it('rule 17: show_broker reports that the transport encrypts', async () => {
    await start({ transport: Object.assign(network.transport('broker'), { encrypts: true }) });
    const client = peer('c1');
    client.send('', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', '{"task":"show_broker"}');
    expect((await next(client)).at(-1)).toContain('"zmq-auth":true,"mechanism":"CURVE"');
  });

  it('show_broker_version names what the broker runs on', async () => {
    await start();
    const client = peer('c1');
    client.send('', 'NFPC01', '0x06', 'mmi.service.broker', 'all', 'm', '{"task":"show_broker_version"}');
    expect(JSON.parse((await next(client)).at(-1) ?? '')).toMatchObject({ norfab: '', node: process.versions.node });
  });
});
