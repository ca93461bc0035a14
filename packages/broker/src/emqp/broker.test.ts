/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { MemoryBudget } from '@proj/transport';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jobBody, VERSION } from '../../test/emqp/broker-under-test.js';
import { TextPeer } from '../../test/raw-peer.js';
import { EmqpBroker } from './broker.js';
import type { EmqpBrokerEndpoints } from './broker.js';
import type { EmqpBrokerOptions } from './options.js';

const FRONTEND = 'tcp://sim:47291';
const BACKEND = 'tcp://sim:47290';
const ADMIN = 'tcp://sim:47293';

let network: VirtualNetwork;
let broker: EmqpBroker;
const peers: TextPeer[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  const closing = [broker.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

async function start(options: EmqpBrokerOptions = {}): Promise<EmqpBrokerEndpoints> {
  const endpoints = { frontend: FRONTEND, backend: BACKEND, admin: ADMIN };
  broker = new EmqpBroker({ ...endpoints, transport: network.transport('broker'), lingerMs: 0, ...options });
  return settle(network.clock, broker.start());
}

/** A peer at this endpoint that sends the opening of each message itself. */
function peer(name: string, endpoint: string): TextPeer {
  const made = TextPeer.connect(network.transport(name), endpoint);
  peers.push(made);
  return made;
}

/** The command and the frames after the id of the next message that is not a heartbeat. */
async function next(of: TextPeer): Promise<readonly string[]> {
  const frames = await settle(
    network.clock,
    of.next(([, , word]) => word !== 'HEARTBEAT'),
  );
  return [frames[2] ?? '', ...frames.slice(4)];
}

async function worker(name: string, queues = ''): Promise<TextPeer> {
  const made = peer(name, BACKEND);
  made.send('', VERSION, 'INFORM', 'i', queues, 'worker');
  expect(await next(made)).toEqual(['ACK', 'i']);
  made.send('', VERSION, 'READY', 'r');
  return made;
}

async function scheduler(name: string): Promise<TextPeer> {
  const made = peer(name, FRONTEND);
  made.send('', VERSION, 'INFORM', 'i', '', 'scheduler');
  expect(await next(made)).toEqual(['ACK', 'i']);
  return made;
}

describe('serving', () => {
  it('takes a job from client to worker, and acceptance and result back', async () => {
    expect(await start()).toEqual({ frontend: [FRONTEND], backend: [BACKEND], admin: [ADMIN] });
    const w1 = await worker('w1');
    const client = peer('c1', FRONTEND);
    client.send('', VERSION, 'REQUEST', 'm1', 'default', 'reply-requested', jobBody());
    expect(await next(w1)).toEqual(['REQUEST', 'default', 'reply-requested', jobBody()]);
    w1.send('', VERSION, 'REPLY', 'p1', '{"value": 5}', 'm1');
    expect(await next(client)).toEqual(['REPLY', 'm1']);
    expect(await next(client)).toEqual(['REPLY', '{"value": 5}', 'm1']);
    expect(broker.stats()).toMatchObject({ workers: 1, openRequests: 0 });
  });

  it('sends messages with its own ids, and heartbeats by the clock', async () => {
    await start();
    const made = peer('w1', BACKEND);
    made.send('', VERSION, 'INFORM', 'i', '', 'worker');
    const ack = await settle(network.clock, made.next());
    const heartbeat = await settle(network.clock, made.next());
    expect([ack.slice(0, 3), heartbeat.slice(0, 3)]).toEqual([
      ['', VERSION, 'ACK'],
      ['', VERSION, 'HEARTBEAT'],
    ]);
    expect(ack[3]).toMatch(/^[0-9a-f-]{36}$/);
    expect(heartbeat[3]).not.toBe(ack[3]);
    expect(heartbeat[4]).toMatch(/^\d+\.\d{6}$/);
  });

  it('hands a schedule from a client to a scheduler', async () => {
    await start();
    const s1 = await scheduler('s1');
    peer('c1', FRONTEND).send('', VERSION, 'SCHEDULE', 'm1', 'default', 'guarantee', '2', jobBody(), '');
    expect(await next(s1)).toEqual(['SCHEDULE', 'default', 'guarantee', '2', jobBody(), '']);
  });

  it('gives a guaranteed job of a worker whose connection ends to another one', async () => {
    await start();
    const w1 = await worker('w1');
    const client = peer('c1', FRONTEND);
    client.send('', VERSION, 'REQUEST', 'm1', 'default', 'guarantee,reply-requested', jobBody());
    await next(w1);
    const w2 = await worker('w2');
    await settle(network.clock, w1.close());
    expect((await next(w2))[0]).toBe('REQUEST');
    w2.send('', VERSION, 'REPLY', 'p1', '{"value": 5}', 'm1');
    expect(await next(client)).toEqual(['REPLY', 'm1']);
    expect(await next(client)).toEqual(['REPLY', '{"value": 5}', 'm1']);
  });

  it('reports peers that come and go, and what is wrong', async () => {
    await start();
    const told: string[] = [];
    broker.on('peer-joined', ({ role, port }) => told.push(`joined ${role} ${port}`));
    broker.on('peer-left', ({ role, reason }) => told.push(`left ${role} ${reason}`));
    broker.on('note', (note) => told.push(`note ${note.code}`));
    const w1 = await worker('w1');
    w1.send('', VERSION, 'NONSENSE', 'm');
    w1.send('', VERSION, 'KBYE', 'b');
    await advance(network.clock, 1000);
    expect(told).toEqual(['joined worker backend', 'note message-dropped', 'left worker bye']);
  });

  it('drops messages over the limits and says so', async () => {
    await start({ maxMessageBytes: 1024 });
    const noted = new Promise((resolve) => broker.on('note', resolve));
    peer('a1', ADMIN).send('', VERSION, 'STATUS', 'x'.repeat(700), 'x'.repeat(700));
    expect(await settle(network.clock, noted)).toMatchObject({ reason: 'too-large', port: 'admin' });
  });
});

it('rule 29: STATUS reports the memory held by the process, if it has a budget', async () => {
  const memory = new MemoryBudget(10_000, network.clock);
  const leave = memory.add({ heldBytes: 9000 });
  memory.look();
  await start({ transport: Object.assign(network.transport('broker'), { memory }) });
  const admin = peer('a1', ADMIN);
  admin.send('', VERSION, 'STATUS', 'admin:1');
  const told = JSON.parse((await next(admin)).at(-1) ?? '') as object;
  const held = { max_bytes: 10_000, held_bytes: memory.heldBytes, level: 'tight', relieved_bytes: 0 };
  expect(told).toMatchObject({ waiting_messages_by_queue: {}, memory: held });
  leave();
  await advance(network.clock, 50);
});

describe('the end', () => {
  it('by an admin: ACK, goodbyes, and all sockets are closed', async () => {
    await start({ lingerMs: 1000 });
    const w1 = await worker('w1');
    const s1 = await scheduler('s1');
    const admin = peer('a1', ADMIN);
    const drained = new Promise<void>((resolve) => broker.on('drained', resolve));
    admin.send('', VERSION, 'DISCONNECT', 'admin:1');
    expect(await next(admin)).toEqual(['ACK', 'admin:1']);
    await settle(network.clock, drained);
    for (const one of [w1, s1]) expect([await next(one), await next(one)]).toEqual([['KBAI'], ['KBYE']]);
    await settle(network.clock, broker.drain());
    await start();
  });

  it('by drain: running jobs finish first', async () => {
    await start({ lingerMs: 1000 });
    const w1 = await worker('w1');
    const client = peer('c1', FRONTEND);
    client.send('', VERSION, 'REQUEST', 'm1', 'default', 'reply-requested', jobBody());
    await next(w1);
    const draining = broker.drain();
    w1.send('', VERSION, 'REPLY', 'p1', '{"value": 5}', 'm1');
    w1.send('', VERSION, 'READY', 'r');
    expect(await next(client)).toEqual(['REPLY', 'm1']);
    expect(await next(client)).toEqual(['REPLY', '{"value": 5}', 'm1']);
    expect([await next(w1), await next(w1)]).toEqual([['KBAI'], ['KBYE']]);
    await settle(network.clock, draining);
  });

  it('by drain, without any peer, and twice', async () => {
    await start();
    await settle(network.clock, Promise.all([broker.drain(), broker.drain()]));
    await expect(broker.start()).resolves.toBeDefined();
  });

  it('close before start leaves nothing behind', async () => {
    broker = new EmqpBroker({ frontend: FRONTEND, transport: network.transport('broker') });
    await settle(network.clock, broker.close());
    await expect(settle(network.clock, broker.start())).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

it('refuses options that contradict each other, and names them', () => {
  broker = new EmqpBroker();
  expect(() => new EmqpBroker({ heartbeatIntervalMs: 5000, expiryMs: 4000 })).toThrow(
    'EmqpBroker: option expiryMs = 4000: must be greater than heartbeatIntervalMs',
  );
});
