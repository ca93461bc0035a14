/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { latin1 } from '@proj/frames';
import { defineService } from '@proj/frames/service';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { TextPeer } from '../../test/raw-peer.js';
import type { MdpPoolOptions, MdpPoolRequestOptions } from './options.js';
import { MdpPool } from './pool.js';

const ENDPOINT = 'tcp://sim:5555';

let network: VirtualNetwork;
let pool: MdpPool;
let peers: TextPeer[];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
  peers = [];
});

afterEach(async () => {
  await settle(network.clock, Promise.all([pool.close(), ...peers.map((peer) => peer.close())]));
  expect(network.clock.armed).toBe(0);
});

async function start(options: MdpPoolOptions = {}): Promise<string[]> {
  pool = new MdpPool({ endpoint: ENDPOINT, transport: network.transport('pool'), lingerMs: 0, ...options });
  return settle(network.clock, pool.start());
}

function peer(name: string): TextPeer {
  const made = TextPeer.connect(network.transport(name), ENDPOINT);
  peers.push(made);
  return made;
}

/** A worker of 0.2 that has registered. */
async function ready(name: string, service = 'echo'): Promise<TextPeer> {
  const worker = peer(name);
  const registered = new Promise((resolve) => pool.on('worker-ready', resolve));
  worker.send('MDPW02', '\x01', service);
  await settle(network.clock, registered);
  return worker;
}

const next = (of: TextPeer) => settle(network.clock, of.next());

/** The address of the next request that the worker gets. */
async function addressed(worker: TextPeer): Promise<string> {
  return (await next(worker))[2] ?? '';
}

/** The outcome of a call, once it has one; never an unhandled rejection. */
function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(
    (body) => (Array.isArray(body) ? body.map((frame) => latin1(frame as Buffer)).join('|') : String(body)),
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
}

describe('request', () => {
  it('rule 2: is a REQUEST with a number as its address, and resolves to the body of FINAL', async () => {
    await start();
    const worker = await ready('w1');
    const answer = pool.request('echo', ['two', Uint8Array.of(0, 255)]);
    const [header, command, address = '', ...rest] = await next(worker);
    expect([header, command, ...rest]).toEqual(['MDPW02', '\x02', '', 'two', '\x00\xff']);
    expect(address).toHaveLength(8);
    worker.send('MDPW02', '\x03', address, '', 'half');
    worker.send('MDPW02', '\x04', address, '', 'done', '');
    expect(await settle(network.clock, answer)).toEqual([Buffer.from('done'), Buffer.alloc(0)]);
  });

  it('rule 1: is also served by workers of 0.1', async () => {
    await start();
    const worker = peer('old');
    worker.send('', 'MDPW01', '\x01', 'echo');
    const answer = outcome(pool.request('echo', 'hello'));
    const [, header, , address = ''] = await next(worker);
    expect(header).toBe('MDPW01');
    worker.send('', 'MDPW01', '\x03', address, '', 'done');
    expect(await settle(network.clock, answer)).toBe('done');
  });

  it('rule 2: never reuses a number, not even when the pool is restarted', async () => {
    await start();
    const first = await ready('w1');
    const calls = [outcome(pool.request('echo', 'a'))];
    const addresses = [await addressed(first)];
    await settle(network.clock, pool.close());
    await advance(network.clock, 10);
    await start();
    const second = await ready('w2');
    calls.push(outcome(pool.request('echo', 'b')));
    addresses.push(await addressed(second));
    expect(new Set(addresses).size).toBe(2);
    await settle(network.clock, pool.close());
    expect(await Promise.all(calls)).toEqual(['CLOSED', 'CLOSED']);
  });

  it('rule 3: fails with TIMEOUT, and with PEER_LOST after a part of the reply', async () => {
    await start();
    expect(await settle(network.clock, outcome(pool.request('nobody', 'x', { timeoutMs: 500 })))).toBe('TIMEOUT');
    const worker = await ready('w1');
    const answer = outcome(pool.request('echo', 'x'));
    worker.send('MDPW02', '\x03', await addressed(worker), '', 'half');
    await advance(network.clock, 50);
    await settle(network.clock, worker.close());
    expect(await settle(network.clock, answer)).toBe('PEER_LOST');
  });

  it('rule 3: fails with the reason of its signal, before and during', async () => {
    await start();
    const worker = await ready('w1');
    const reason = new Error('enough');
    await expect(pool.request('echo', 'x', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const answer = pool.request('echo', 'y', { signal: controller.signal });
    const address = await addressed(worker);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    worker.send('MDPW02', '\x04', address, '', 'late');
    const after = outcome(pool.request('echo', 'z'));
    worker.send('MDPW02', '\x04', await addressed(worker), '', 'fine');
    expect(await settle(network.clock, after)).toBe('fine');
  });

  it.each<[string, string, MdpPoolRequestOptions | undefined, string]>([
    ['an invalid name', 'é', undefined, 'PROTOCOL_LOCAL'],
    ['a reserved name', 'mmi.service', undefined, 'PROTOCOL_LOCAL'],
    ['an unknown option', 'echo', { tries: 3 } as never, 'OPTIONS_INVALID'],
    ['failFast without workers', 'echo', { failFast: true }, 'SERVICE_UNKNOWN'],
  ])('refuses %s', async (_what, service, options, code) => {
    await start();
    expect(await outcome(pool.request(service, 'x', options))).toBe(code);
    expect(pool.stats().counters.requests).toBe(0);
  });

  it('refuses a body without frames, or over the limits', async () => {
    await start({ maxMessageFrames: 8 });
    expect(await outcome(pool.request('echo', []))).toBe('PROTOCOL_LOCAL');
    expect(await outcome(pool.request('echo', ['1', '2', '3', '4']))).toBe('PROTOCOL_LOCAL');
  });

  it('fails with QUEUE_FULL over the limits of queues, with CLOSED before the start and after the end', async () => {
    pool = new MdpPool({ endpoint: ENDPOINT, transport: network.transport('early') });
    expect(await outcome(pool.request('echo', 'x'))).toBe('CLOSED');
    await start({ requestQueueMax: 1 });
    const waiting = outcome(pool.request('echo', 'x'));
    expect(await outcome(pool.request('echo', 'y'))).toBe('QUEUE_FULL');
    await settle(network.clock, pool.close());
    expect([await waiting, await outcome(pool.request('echo', 'z'))]).toEqual(['CLOSED', 'CLOSED']);
  });

  it('takes typed services', async () => {
    const sum = defineService({ name: 'sum', request: z.array(z.number()), reply: z.number() });
    await start();
    const worker = await ready('w1', 'sum');
    const answer = pool.request(sum, [1, 2]);
    expectTypeOf(answer).resolves.toEqualTypeOf<number>();
    const [, , address = '', , body] = await next(worker);
    expect(body).toBe('[1,2]');
    worker.send('MDPW02', '\x04', address, '', '3');
    expect(await settle(network.clock, answer)).toBe(3);
    await expect(pool.request(sum, ['x'] as never)).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

describe('stream', () => {
  const collect = async (stream: AsyncGenerator<unknown, unknown, undefined>): Promise<unknown[]> => {
    const seen = [];
    for (let step = await stream.next(); ; step = await stream.next()) {
      seen.push(String(step.value));
      if (step.done === true) return seen;
    }
  };

  it('rule 2: yields partial replies and returns the final one', async () => {
    await start();
    const worker = await ready('w1');
    const all = collect(pool.stream('echo', 'x'));
    const address = await addressed(worker);
    for (const part of ['1', '2']) worker.send('MDPW02', '\x03', address, '', part);
    worker.send('MDPW02', '\x04', address, '', 'end');
    expect(await settle(network.clock, all)).toEqual(['1', '2', 'end']);
  });

  it('rule 2: of a typed service are values', async () => {
    const count = defineService({ name: 'count', request: z.number(), reply: z.string(), partial: z.number() });
    await start();
    const worker = await ready('w1', 'count');
    const all = collect(pool.stream(count, 1));
    const address = await addressed(worker);
    worker.send('MDPW02', '\x03', address, '', '1');
    worker.send('MDPW02', '\x04', address, '', '"end"');
    expect(await settle(network.clock, all)).toEqual(['1', 'end']);
  });

  it('rule 3: is given up if its reader leaves early', async () => {
    await start();
    const worker = await ready('w1');
    const stream = pool.stream('echo', 'x');
    const first = stream.next();
    worker.send('MDPW02', '\x03', await addressed(worker), '', '1');
    await settle(network.clock, first);
    await stream.return([]);
    expect(pool.stats()).toMatchObject({ clients: 0, openRequests: 1 });
  });

  it('rule 2: fails with QUEUE_FULL if its reader falls behind', async () => {
    await start({ streamBufferMax: 2 });
    const worker = await ready('w1');
    const stream = pool.stream('echo', 'x');
    const first = stream.next();
    const address = await addressed(worker);
    for (const part of ['1', '2', '3', '4', '5']) worker.send('MDPW02', '\x03', address, '', part);
    await settle(network.clock, first);
    await advance(network.clock, 100);
    expect(await outcome(collect(stream))).toBe('QUEUE_FULL');
  });
});

describe('life', () => {
  it('reports which services have workers', async () => {
    await start();
    expect(await pool.service('echo')).toBe('absent');
    await ready('w1');
    expect(await pool.service('echo')).toBe('available');
    expect(pool.stats().services).toEqual([{ name: 'echo', version: 'both', workers: 1, busy: 0, waiting: 0 }]);
  });

  it('rule 1: drops and counts messages of clients', async () => {
    await start();
    const note = new Promise((resolve) => pool.on('note', resolve));
    peer('c1').send('MDPC02', '\x01', 'echo', 'x');
    expect(await settle(network.clock, note)).toMatchObject({ code: 'message-dropped', reason: 'wrong-direction' });
    expect(pool.stats()).toMatchObject({ clients: 0, counters: { requests: 0 } });
  });

  it('rule 4: drains: running requests finish, workers get DISCONNECT', async () => {
    await start({ lingerMs: 1000 });
    const worker = await ready('w1');
    const calls = [outcome(pool.request('echo', 'x')), outcome(pool.request('echo', 'y'))];
    const address = await addressed(worker);
    const drained = pool.drain();
    await advance(network.clock, 10);
    worker.send('MDPW02', '\x04', address, '', 'done');
    expect(await next(worker)).toEqual(['MDPW02', '\x06']);
    await settle(network.clock, drained);
    expect(await Promise.all(calls)).toEqual(['done', 'CLOSED']);
    expect(pool.close()).toBe(pool.close());
  });
});
