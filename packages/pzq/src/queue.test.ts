/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { MemoryBudget } from '@proj/transport';
import { advance, settle, VirtualNetwork, type VirtualTransport } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fault, FaultyStore } from '../test/faulty-store.js';
import { RawConsumer, RawDealer } from '../test/raw-peers.js';
import type { PzqDeadLetter } from './dead-letter-requests.js';
import type { PzqServerOptions } from './options.js';
import { PzqServer } from './queue.js';

const RECEIVE = 'tcp://sim:1';
const SEND = 'tcp://sim:2';
const MONITOR = 'tcp://sim:3';
const DEAD = 'tcp://sim:4';
const KEY = /^\d{16}\|[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let network: VirtualNetwork;
let host: VirtualTransport;
let store: FaultyStore;
let queue: PzqServer;
const peers: { close(): Promise<void> }[] = [];
const events: unknown[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
  store = new FaultyStore();
  events.length = 0;
});

afterEach(async () => {
  const closing = [queue.close(), ...peers.splice(0).map((peer) => peer.close())];
  await settle(network.clock, Promise.all(closing));
  expect([network.clock.armed, store.isOpen]).toEqual([0, false]);
});

function make(options: PzqServerOptions = {}): PzqServer {
  host = network.transport('queue');
  queue = new PzqServer({ receive: RECEIVE, send: SEND, monitor: MONITOR, store, transport: host, ...options });
  for (const name of ['note', 'refusing', 'resumed', 'dead-letter'] as const)
    queue.on(name, (event) => events.push(event));
  return queue;
}

const until = <Value>(promise: Promise<Value>) => settle(network.clock, promise);
const start = (options?: PzqServerOptions) => until(make(options).start());
const after = (ms: number) => advance(network.clock, ms);

function keep<Kept extends { close(): Promise<void> }>(peer: Kept): Kept {
  peers.push(peer);
  return peer;
}
const producer = () => keep(new RawDealer(network.transport(), RECEIVE));
const consumer = (endpoint = SEND) => keep(new RawConsumer(network.transport(), endpoint));

async function push(from: RawDealer, ...bodies: string[]): Promise<void> {
  for (const body of bodies) expect(await until(from.ask(body, '', body))).toEqual([body, '1', '']);
}

describe('serving', () => {
  it('reports where it is bound', async () => {
    const ports = { receive: 'tcp://sim:*', send: ['tcp://sim:*', 'tcp://sim:*'], deadLetterSend: 'tcp://sim:*' };
    const bound = await start(ports);
    const port = expect.stringMatching(/^tcp:\/\/sim:\d+$/) as string;
    expect(bound).toEqual({ receive: [port], send: [port, port], monitor: [MONITOR], deadLetterSend: [port] });
    expect(await queue.start()).toBe(bound);
  });

  it('rule 22: the monitor reports the memory of the process, if it has a budget', async () => {
    const monitor = () => keep(new RawDealer(network.transport(), MONITOR));
    await start();
    expect((await until(monitor().ask('', 'MONITOR')))[1]).not.toContain('memory_');
    await until(queue.close());
    const memory = new MemoryBudget(10_000, network.clock);
    const leave = memory.add({ heldBytes: 9000 });
    memory.look();
    await start({ transport: Object.assign(network.transport('queue'), { memory }) });
    const lines = (await until(monitor().ask('', 'MONITOR')))[1]?.trim().split('\n').slice(-4);
    expect(lines).toEqual([
      'memory_max_bytes: 10000',
      `memory_held_bytes: ${memory.heldBytes}`,
      'memory_level: tight',
      'memory_relieved_bytes: 0',
    ]);
    leave();
    await after(50);
  });

  it('takes a message to a consumer and forgets it once that acknowledges', async () => {
    await start();
    const from = producer();
    expect(await until(from.ask('id1', 'dropped', '', 'two', '', 'frames'))).toEqual(['id1', '1', '']);
    const to = consumer();
    const delivery = await until(to.next());
    expect(delivery).toMatchObject({ timeoutMicros: 5_000_000, body: ['two', '', 'frames'] });
    expect(delivery.key).toMatch(KEY);
    expect(Math.abs(delivery.sentMicros - host.entropy.wallMicros())).toBeLessThan(10_000);
    expect(queue.stats()).toMatchObject({ messages: 1, inFlight: 1 });
    to.answer(delivery, '1');
    await after(100);
    expect(queue.stats()).toMatchObject({ messages: 0, inFlight: 0, store: 'memory', storeState: 'ok' });
  });

  it('rule 17: has nothing in flight without a consumer; rule 12: the time of sending is that of the delivery', async () => {
    await start();
    await push(producer(), 'a');
    await after(60_000);
    expect(queue.stats()).toMatchObject({ ready: 1, inFlight: 0 });
    const connectedAt = host.entropy.wallMicros();
    const { sentMicros } = await until(consumer().next());
    expect(sentMicros).toBeGreaterThanOrEqual(connectedAt - 100_000);
  });

  it('rules 11 and 12: redelivers returned messages at once, and messages not acknowledged in time, under the same key', async () => {
    await start({ ackTimeoutMs: 1000 });
    const to = consumer();
    await push(producer(), 'a');
    const first = await until(to.next());
    to.answer(first, '0');
    const second = await until(to.next());
    expect(second.sentMicros - first.sentMicros).toBeLessThan(10_000);
    const third = await until(to.next());
    expect(third.sentMicros - second.sentMicros).toBeGreaterThanOrEqual(1_000_000);
    expect(third.sentMicros - second.sentMicros).toBeLessThan(1_010_000);
    expect(new Set([first, second, third].map(({ key, body }) => `${key} ${body.join()}`)).size).toBe(1);
  });

  it('rule 16: holds back deliveries beyond the bound of in-flight messages', async () => {
    await start({ maxInFlight: 2 });
    const to = consumer();
    await push(producer(), 'a', 'b', 'c', 'd');
    await after(1000);
    expect([to.waiting, queue.stats().inFlight]).toEqual([2, 2]);
    to.answer(await until(to.next()), '1');
    await after(1000);
    expect([to.waiting, queue.stats().inFlight]).toEqual([2, 2]);
  });

  it('rule 16: gives a consumer that does not read no more than its connection holds', async () => {
    await start();
    const deaf = network.transport().router({ highWaterMark: 1, lingerMs: 0 });
    deaf.connect(SEND);
    await push(producer(), 'a', 'b', 'c', 'd', 'e');
    await after(1000);
    expect(queue.stats()).toMatchObject({ inFlight: 3, ready: 2 });
    await deaf.close();
  });

  it('rules 3 and 5: refuses what it cannot store with the reason, in the order received', async () => {
    await start({ maxMessageBytes: 1024, maxParts: 2 });
    const from = producer();
    const large = 'x'.repeat(1025);
    from.send('1', 'no delimiter');
    from.send('2', '');
    from.send('3', '', large);
    from.send('4', '', 'a', 'b', 'c');
    from.send('alone');
    from.send('', '', 'no id');
    const answers = [];
    for (let index = 0; index < 5; index++) answers.push(await until(from.next()));
    expect(answers).toEqual([
      ['1', '0', '', 'Malformed message, no delimiter found or missing message parts'],
      ['2', '0', '', 'Trying to save empty message'],
      ['3', '0', '', 'Message is too large'],
      ['4', '0', '', 'Too many message parts'],
      ['', '1', ''],
    ]);
    expect(queue.stats().counters.dropped['produce-one-frame']).toBe(1);
  });

  it('rule 4: keeps the answers of a producer that does not read, up to a bound, and serves others meanwhile', async () => {
    await start({ producerAckMax: 100 });
    const slow = keep(new RawDealer(network.transport(), RECEIVE, 'deaf'));
    const ids = Array.from({ length: 2500 }, (_, index) => String(index));
    for (const id of ids) slow.send(id, '', 'x');
    await after(1000);
    // What its connection holds, plus the bound.
    const kept = ids.slice(0, 2000 + 100);
    expect(queue.stats().counters).toMatchObject({ stored: 2100, dropped: { 'producer-stalled': 400 } });
    await push(producer(), 'other');
    slow.listen();
    const answers = await until(Promise.all(kept.map(() => slow.next())));
    expect(answers).toEqual(kept.map((id) => [id, '1', '']));
  });

  it('rule 22: reports its state', async () => {
    await start();
    await push(producer(), 'a');
    const watcher = keep(new RawDealer(network.transport(), MONITOR));
    watcher.send('monitor');
    const [blank, text = ''] = await until(watcher.ask('', 'MONITOR'));
    expect(blank).toBe('');
    expect(text).toMatch(/^messages: 1\nmessages_inflight: 0\n/);
    expect(text).toMatch(/\nversion: \d+\.\d+\.\d+\n$/);
  });
});

describe('a store that fails', () => {
  const faults: [Fault, string][] = [
    [{ kind: 'rejects', code: 'ENOSPC' }, 'ENOSPC'],
    [{ kind: 'rejects oddly' }, 'UNKNOWN'],
    [{ kind: 'throws' }, 'EIO'],
  ];

  it.each(faults)('rule 9: that %j at a commit refuses producers until it works again', async (fault, code) => {
    await start();
    const from = producer();
    await push(from, 'before');
    store.faults.set('commit', fault).set('probe', fault);
    const refusal = ['id', '0', '', `Store is unavailable: ${code}`];
    expect(await until(from.ask('id', '', 'x'))).toEqual(refusal);
    expect(await until(from.ask('id', '', 'x'))).toEqual(refusal);
    expect(events).toEqual([{ kind: 'refusing', code }, expect.objectContaining({ reason: 'store-unavailable' })]);
    expect(await until(consumer().consume())).toEqual(['before']);
    store.faults.clear();
    await after(1100);
    expect(events.at(-1)).toEqual({ kind: 'resumed' });
    await push(from, 'again');
    await after(100);
    expect(queue.stats()).toMatchObject({ messages: 1, storeState: 'ok' });
  });

  it.each(faults)('that %j at a read is retried', async (fault, code) => {
    await start({ windowMax: 1 });
    await push(producer(), 'a', 'b', 'c');
    store.faults.set('scan', fault);
    const to = consumer();
    await until(to.consume());
    await after(3000);
    expect(events).toContainEqual({ kind: 'note', code: 'read-failed', reason: code });
    store.faults.clear();
    expect([await until(to.consume()), await until(to.consume())]).toEqual([['b'], ['c']]);
  });

  it('whose lease calls fail lets the leases expire', async () => {
    const message = { seq: 1, storedMicros: 1, body: [Buffer.from('a')], bytes: 1, deliveries: 0, expiresMicros: 0 };
    const takes = [Promise.reject(new Error('take')), Promise.resolve([message])];
    const asked: string[] = [];
    store.leases = {
      take: () => takes.shift() ?? Promise.resolve([]),
      release: () => {
        asked.push('release');
        return Promise.reject(new Error('release'));
      },
      extend: () => {
        asked.push('extend');
        throw new Error('extend');
      },
    };
    await start({ extendLease: true });
    const to = consumer();
    const delivery = await until(to.next());
    to.answer(delivery);
    to.answer(delivery, '0');
    await after(100);
    expect(asked).toEqual(['extend', 'release']);
  });
});

describe('starting', () => {
  it('binds nothing when the store cannot be opened', async () => {
    store.faults.set('open', { kind: 'rejects', code: 'EACCES' });
    await expect(start()).rejects.toMatchObject({ details: { code: 'EACCES' } });
    const other = network.transport().router();
    await other.bind(RECEIVE);
    await other.close();
  });

  it.each([RECEIVE, SEND, MONITOR, DEAD])('closes the store if %s is taken', async (endpoint) => {
    const other = network.transport().router();
    await other.bind(endpoint);
    await expect(start({ deadLetterSend: DEAD })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    expect([store.isOpen, host.openPorts]).toEqual([false, 0]);
    await other.close();
  });

  it('is refused after close, and ended by a close meanwhile', async () => {
    const starting = make().start();
    const closing = queue.close();
    await expect(until(starting)).rejects.toMatchObject({ code: 'CLOSED' });
    await until(closing);
    expect([store.isOpen, host.openPorts]).toEqual([false, 0]);
    make();
    await queue.close();
    await expect(queue.start()).rejects.toMatchObject({ code: 'CLOSED' });
    expect(() => queue.stats()).toThrow(expect.objectContaining({ code: 'CLOSED' }));
    await expect(queue.returnDeadLetters([])).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('the end', () => {
  it('rule 19: a drain refuses producers, lets consumers acknowledge, and ends when they have', async () => {
    await start({ drainMs: 60_000 });
    const from = producer();
    const to = consumer();
    await push(from, 'a');
    const delivery = await until(to.next());
    let ended = false;
    const drained = queue.drain().then(() => (ended = true));
    expect(await until(from.ask('late', '', 'x'))).toEqual(['late', '0', '', 'Server is shutting down']);
    await after(4000);
    expect(ended).toBe(false);
    to.answer(delivery, '1');
    await until(drained);
    expect(queue.stats()).toMatchObject({ messages: 0 });
    expect([host.openPorts, store.isOpen, queue.drain()]).toEqual([0, false, queue.drain()]);
  });

  it('rule 19: a drain takes drainMs and no longer, when a consumer does not answer', async () => {
    await start({ drainMs: 700 });
    const to = consumer();
    await push(producer(), 'a');
    await until(to.next());
    const begun = network.clock.now();
    await until(queue.drain());
    expect(network.clock.now() - begun).toBeLessThan(710);
    expect(queue.stats()).toMatchObject({ messages: 1 });
  });

  it('a close does not wait, and ends a running drain', async () => {
    await start({ drainMs: 60_000 });
    const to = consumer();
    await push(producer(), 'a');
    await until(to.next());
    const drained = queue.drain();
    const begun = network.clock.now();
    await until(queue.close());
    await until(drained);
    expect(network.clock.now() - begun).toBeLessThan(10);
  });

  it('a close does not wait for a consumer to come', async () => {
    await start();
    await push(producer(), 'a');
    await after(30);
    const begun = network.clock.now();
    await until(queue.close());
    expect(network.clock.now() - begun).toBeLessThan(10);
  });

  it('rule 19: a drain gives producers drainMs to read their answers', async () => {
    await start({ drainMs: 300 });
    const slow = keep(new RawDealer(network.transport(), RECEIVE, 'deaf'));
    for (let index = 0; index < 2500; index++) slow.send('id', '', 'x');
    await after(1000);
    const begun = network.clock.now();
    await until(queue.drain());
    expect(Math.abs(network.clock.now() - begun - 300)).toBeLessThan(10);
  });

  it('a drain before the start is a close', async () => {
    make();
    await queue.drain();
    await expect(queue.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('dead letters', () => {
  async function list(): Promise<PzqDeadLetter[]> {
    const letters: PzqDeadLetter[] = [];
    for await (const letter of queue.deadLetters()) letters.push(letter);
    return letters;
  }

  /** Messages that have died of one negative acknowledgement each. */
  async function bury(options: PzqServerOptions, ...bodies: string[]): Promise<RawConsumer> {
    await start({ maxDeliveries: 1, ...options });
    const to = consumer();
    const from = producer();
    for (const body of bodies) {
      await push(from, body);
      to.answer(await until(to.next()), '0');
    }
    await after(100);
    return to;
  }

  it('are reported, counted and listed', async () => {
    await bury({}, 'a', 'b');
    expect(events).toEqual([1, 2].map((seq) => ({ kind: 'dead-letter', seq, reason: 'max-deliveries' })));
    expect(queue.stats()).toMatchObject({ messages: 0, dead: 2 });
    expect(await list()).toMatchObject([
      { reason: 'max-deliveries', deliveries: 1, body: [Buffer.from('a')] },
      { reason: 'max-deliveries', deliveries: 1, body: [Buffer.from('b')] },
    ]);
    const [first] = await list();
    expect(first?.key).toMatch(KEY);
    expect(first?.diedMicros).toBeGreaterThan(first?.storedMicros ?? Infinity);
  });

  it('are listed over several pages', async () => {
    const bodies = Array.from({ length: 250 }, (_, index) => String(index));
    await bury({}, ...bodies);
    expect((await list()).map(({ body }) => String(body[0]))).toEqual(bodies);
    await until(queue.removeDeadLetters((await list()).map(({ key }) => key)));
    expect(await list()).toEqual([]);
  });

  it('are returned to the queue, or removed, one by one', async () => {
    const to = await bury({}, 'a', 'b');
    const [a, b] = await list();
    await until(queue.returnDeadLetters([a!.key]));
    expect(await until(to.consume())).toEqual(['a']);
    await until(queue.removeDeadLetters([b!.key, a!.key]));
    expect(await list()).toEqual([]);
    expect(queue.stats()).toMatchObject({ messages: 0, dead: 0 });
  });

  it('are named by keys of this queue; others are refused, and then nothing is done', async () => {
    await bury({}, 'a');
    const [a] = await list();
    const foreign = a!.key.replace(/[0-9a-f](?=.{30}$)/, (digit) => (digit === '0' ? '1' : '0'));
    for (const key of ['', 'x', foreign]) {
      await expect(queue.removeDeadLetters([a!.key, key])).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
      await expect(queue.returnDeadLetters([key])).rejects.toThrow(JSON.stringify(key));
    }
    expect(await list()).toHaveLength(1);
  });

  it('cannot be returned while the store fails', async () => {
    await bury({}, 'a');
    const [a] = await list();
    store.faults.set('commit', { kind: 'rejects', code: 'ENOSPC' });
    await expect(until(queue.returnDeadLetters([a!.key]))).rejects.toMatchObject({
      code: 'WRITE_FAILED',
      details: { code: 'ENOSPC' },
    });
  });

  it('reject with CLOSED if the queue closes while they are being returned', async () => {
    await bury({}, 'a');
    const [a] = await list();
    let work = () => {};
    store.faults.set('commit', { kind: 'waits', until: new Promise((resolve) => (work = resolve)) });
    const returned = queue.returnDeadLetters([a!.key]);
    const refused = expect(returned).rejects.toMatchObject({ code: 'CLOSED' });
    await until(queue.close());
    await refused;
    work();
    await expect(queue.removeDeadLetters([a!.key])).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('are delivered at their own endpoint, like any message', async () => {
    await bury({ deadLetterSend: DEAD }, 'a');
    expect(await until(consumer(DEAD).consume())).toEqual(['a']);
    await after(100);
    expect(await list()).toEqual([]);
  });
});
