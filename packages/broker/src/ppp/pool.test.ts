/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { decodePppCorrelation } from '@proj/frames/ppp';
import { MemoryBudget } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import type { PppPoolOptions } from './options.js';
import { PppPool } from './pool.js';

const ENDPOINT = 'tcp://sim:5557';

let network: VirtualNetwork;
let pool: PppPool;
const peers: TextPeer[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  const closing = [pool.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect(network.clock.armed).toBe(0);
});

function make(options: PppPoolOptions = {}, host = 'pool'): PppPool {
  return new PppPool({ endpoint: ENDPOINT, transport: network.transport(host), lingerMs: 0, ...options });
}

async function start(options: PppPoolOptions = {}): Promise<string[]> {
  pool = make(options);
  return settle(network.clock, pool.start());
}

async function ready(name: string): Promise<TextPeer> {
  const worker = TextPeer.connect(network.transport(name), ENDPOINT);
  peers.push(worker);
  const registered = new Promise((resolve) => pool.on('worker-ready', resolve));
  worker.send('\x01');
  await settle(network.clock, registered);
  return worker;
}

function next(of: TextPeer): Promise<readonly string[]> {
  return settle(network.clock, of.next());
}

/** The outcome of a request, once it has one; never an unhandled rejection. */
function outcome(request: Promise<Buffer[]>): Promise<string> {
  return request.then(
    (content) => content.map((frame) => frame.toString('latin1')).join('|'),
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
}

describe('request', () => {
  it('rule 2: sends correlation id, empty frame, content, and resolves to the content of the reply', async () => {
    await start();
    const worker = await ready('w1');
    const answer = pool.request(['two', Uint8Array.of(0, 255)]);
    const [id = '', ...rest] = await next(worker);
    expect(id).toHaveLength(8);
    expect(rest).toEqual(['', 'two', '\x00\xff']);
    worker.send(id, '', 'done', '');
    const content = await settle(network.clock, answer);
    expect(content).toEqual([Buffer.from('done'), Buffer.alloc(0)]);
    expect(content.every((frame) => Buffer.isBuffer(frame))).toBe(true);
  });

  it('rule 3: content of one frame makes a REQUEST of three, which the Guide’s workers answer by echoing it', async () => {
    await start();
    const worker = await ready('w1');
    const answer = outcome(pool.request('hello'));
    const request = await next(worker);
    expect(request).toHaveLength(3);
    worker.send(...request);
    expect(await settle(network.clock, answer)).toBe('hello');
  });

  it('rule 2: never reuses an id, not even when the pool is restarted', async () => {
    await start();
    const worker = await ready('w1');
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) {
      const answer = pool.request('x');
      const [id = ''] = await next(worker);
      ids.push(decodePppCorrelation(Buffer.from(id, 'latin1')) ?? -1);
      worker.send(id, '', 'y');
      await settle(network.clock, answer);
    }
    expect(ids.slice(1)).toEqual([(ids[0] ?? 0) + 1, (ids[0] ?? 0) + 2]);
    await settle(network.clock, pool.close());
    await start();
    const again = await ready('w2');
    const lost = outcome(pool.request('x'));
    const [id = ''] = await next(again);
    expect(decodePppCorrelation(Buffer.from(id, 'latin1'))).toBeGreaterThan(ids[2] ?? Infinity);
    await settle(network.clock, pool.close());
    expect(await lost).toBe('CLOSED');
  });

  it('rule 4: refuses long requests that would have to wait while memory is short, and reports its held bytes to the budget', async () => {
    const memory = new MemoryBudget(10_000, network.clock);
    const transport = Object.assign(network.transport('pool'), { memory });
    await start({ transport });
    const waits = outcome(pool.request('x'.repeat(9000)));
    expect(memory.heldBytes).toBeGreaterThanOrEqual(9000);
    memory.look();
    expect(await outcome(pool.request('y'.repeat(2 ** 20)))).toBe('QUEUE_FULL');
    await settle(network.clock, pool.close());
    expect(await waits).toBe('CLOSED');
    expect(memory.heldBytes).toBe(0);
    network.clock.advance(50);
  });

  it('rule 1: goes to another worker when its own crashes, and each reply goes to its own call', async () => {
    await start();
    const host = network.transport('w1');
    const first = TextPeer.connect(host, ENDPOINT);
    first.send('\x01');
    const answers = ['a', 'b'].map((body) => outcome(pool.request(body)));
    await next(first);
    const second = await ready('w2');
    const [idB = '', , b] = await next(second);
    network.crash(host);
    second.send(idB, '', `${b}!`);
    const [idA = '', , a] = await next(second);
    second.send(idA, '', `${a}!`);
    expect(await settle(network.clock, Promise.all(answers))).toEqual(['a!', 'b!']);
  });

  it('rule 4: fails with TIMEOUT after timeoutMs, its own or the pool’s', async () => {
    await start({ timeoutMs: 700 });
    const before = network.clock.now();
    expect(await settle(network.clock, outcome(pool.request('x', { timeoutMs: 300 })))).toBe('TIMEOUT');
    expect(network.clock.now() - before).toBe(300);
    expect(await settle(network.clock, outcome(pool.request('x')))).toBe('TIMEOUT');
    expect(network.clock.now() - before).toBe(1000);
  });

  it('rule 4: fails with PEER_LOST if it has lost maxAttempts workers', async () => {
    await start({ maxAttempts: 1 });
    const worker = await ready('w1');
    const failed = outcome(pool.request('poison'));
    await next(worker);
    await settle(network.clock, worker.close());
    expect(await settle(network.clock, failed)).toBe('PEER_LOST');
  });

  it('rule 4: fails with QUEUE_FULL over requestQueueMax', async () => {
    await start({ requestQueueMax: 1 });
    const waits = outcome(pool.request('x', { timeoutMs: 10 }));
    expect(await settle(network.clock, outcome(pool.request('y')))).toBe('QUEUE_FULL');
    expect(await settle(network.clock, waits)).toBe('TIMEOUT');
  });

  it('rule 4: rejects with the signal’s reason at once, whatever its state', async () => {
    await start();
    const reason = new Error('changed my mind');
    await expect(pool.request('x', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(pool.stats().counters.requests).toBe(0);

    const waiting = new AbortController();
    const aborted = pool.request('x', { signal: waiting.signal });
    waiting.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(pool.stats()).toMatchObject({ openRequests: 0 });

    const worker = await ready('w1');
    const running = new AbortController();
    const forgotten = pool.request('x', { signal: running.signal });
    const [id = ''] = await next(worker);
    running.abort(reason);
    await expect(forgotten).rejects.toBe(reason);
    worker.send(id, '', 'late');
    const answer = outcome(pool.request('y'));
    const [second = ''] = await next(worker);
    worker.send(second, '', 'in time');
    expect(await settle(network.clock, answer)).toBe('in time');
  });

  it('stops listening to the signal once it is over', async () => {
    await start();
    const worker = await ready('w1');
    const { signal, abort } = listened();
    const answer = pool.request('x', { signal });
    const [id = ''] = await next(worker);
    worker.send(id, '', 'y');
    await settle(network.clock, answer);
    expect(signal.count).toBe(0);
    abort();
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['no frame', () => pool.request([]), 'PROTOCOL_LOCAL'],
    ['more frames than a message has', () => pool.request(Array<string>(7).fill('x')), 'PROTOCOL_LOCAL'],
    ['more bytes', () => pool.request('x'.repeat(2000)), 'PROTOCOL_LOCAL'],
    ['options that do not exist', () => pool.request('x', { retries: 1 } as object), 'OPTIONS_INVALID'],
  ])('is refused for %s', async (_what, request, code) => {
    await start({ maxMessageFrames: 8, maxMessageBytes: 1024 });
    await expect(request()).rejects.toMatchObject({ code });
  });

  it('fails with CLOSED before start and after close', async () => {
    pool = make();
    await expect(pool.request('x')).rejects.toMatchObject({ code: 'CLOSED' });
    await settle(network.clock, pool.start());
    await settle(network.clock, pool.close());
    await expect(pool.request('x')).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('life', () => {
  it('start resolves to the endpoints with wildcard ports filled in', async () => {
    const bound = await start({ endpoint: ['tcp://sim:*', 'tcp://sim:7777'] });
    expect(bound[0]).toMatch(/^tcp:\/\/sim:\d+$/);
    expect(bound[1]).toBe('tcp://sim:7777');
    expect(pool.start()).toBe(pool.start());
  });

  it('start rejects with ADDRESS_IN_USE', async () => {
    await start();
    const late = make({}, 'late');
    await expect(settle(network.clock, late.start())).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await late.close();
  });

  it('close fails open requests with CLOSED', async () => {
    await start();
    const worker = await ready('w1');
    const outcomes = [outcome(pool.request('runs')), outcome(pool.request('waits'))];
    await next(worker);
    await settle(network.clock, pool.close());
    expect(await Promise.all(outcomes)).toEqual(['CLOSED', 'CLOSED']);
    expect(pool[Symbol.asyncDispose]()).toBe(pool.close());
  });

  it('drain lets running requests finish and fails waiting ones', async () => {
    await start();
    const worker = await ready('w1');
    const [runs, waits] = [outcome(pool.request('runs')), outcome(pool.request('waits'))];
    const [id = ''] = await next(worker);
    const drained = pool.drain();
    expect(await waits).toBe('CLOSED');
    expect(await settle(network.clock, outcome(pool.request('new')))).toBe('CLOSED');
    worker.send(id, '', 'done');
    expect(await settle(network.clock, runs)).toBe('done');
    await settle(network.clock, drained);
  });

  it('events report workers that come and go', async () => {
    await start();
    const worker = await ready('w1');
    expect(pool.stats()).toMatchObject({ workers: 1, busy: 0, waiting: 0 });
    const lost = new Promise((resolve) => pool.on('worker-lost', resolve));
    await settle(network.clock, worker.close());
    expect(await settle(network.clock, lost)).toMatchObject({ kind: 'worker-lost', reason: 'gone' });
  });

  it('events report what was dropped', async () => {
    await start();
    const note = new Promise((resolve) => pool.on('note', resolve));
    const stranger = TextPeer.connect(network.transport('x'), ENDPOINT);
    peers.push(stranger);
    stranger.send('\x07');
    expect(await settle(network.clock, note)).toMatchObject({ code: 'message-dropped', reason: 'control-unknown' });
  });
});

/** A signal that counts its listeners. */
function listened(): { signal: AbortSignal & { count: number }; abort: () => void } {
  const controller = new AbortController();
  const signal = Object.assign(controller.signal, { count: 0 });
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    signal.count++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    signal.count--;
    remove(...args);
  };
  return {
    signal,
    abort: () => {
      controller.abort();
    },
  };
}
