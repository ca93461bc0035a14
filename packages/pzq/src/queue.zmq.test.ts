/** The facade as users run it: real sockets, and a store on disk that survives it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RawConsumer, RawDealer } from '../test/raw-peers.js';
import type { PzqServerOptions } from './options.js';
import { PzqServer } from './queue.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const FREE = 'tcp://127.0.0.1:*';
const transport = zmqTransport();

let folder: string;
const peers: { close(): Promise<void> }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pzq-'));
});

afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  rmSync(folder, { recursive: true });
});

function keep<Kept extends { close(): Promise<void> }>(peer: Kept): Kept {
  peers.push(peer);
  return peer;
}

async function start(options: PzqServerOptions = {}) {
  // An acknowledgement must not be late on a busy machine: double deliveries are another test's subject.
  const queue = keep(
    new PzqServer({
      receive: FREE,
      send: FREE,
      monitor: FREE,
      store: `lmdb:${folder}`,
      ackTimeoutMs: 600_000,
      ...options,
    }),
  );
  const { receive, send } = await queue.start();
  return { queue, receive: receive[0]!, send: send[0]! };
}

const producer = (endpoint: string) => keep(new RawDealer(transport, endpoint));
const consumer = (...endpoints: string[]) => keep(new RawConsumer(transport, ...endpoints));

describe('PzqServer', () => {
  it('keeps acknowledged messages over a restart, with the same keys, but no settled ones', async () => {
    const first = await start();
    const from = producer(first.receive);
    for (const body of ['a', 'b', 'c']) expect(await from.ask(body, '', body)).toEqual([body, '1', '']);
    const to = consumer(first.send);
    const [a, b, c] = [await to.next(), await to.next(), await to.next()];
    to.answer(a, '1');
    // The next answer shows that the one before it was read.
    to.answer(b, '0');
    const again = await to.next();
    expect([a.body, b.body, c.body, again.key === b.key]).toEqual([['a'], ['b'], ['c'], true]);
    await first.queue.close();

    const second = await start();
    const next = consumer(second.send);
    const [b2, c2] = [await next.next(), await next.next()];
    expect([b2.key, b2.body, c2.key, c2.body]).toEqual([b.key, ['b'], c.key, ['c']]);
    await second.queue.close();
  });

  it('delivers to one consumer in the order of arrival, each message once', async () => {
    const { queue, receive, send } = await start();
    const from = producer(receive);
    const to = consumer(send);
    const texts = Array.from({ length: 2000 }, (_, index) => String(index));
    for (const text of texts) from.send(text, '', text);
    for (const text of texts) expect(await to.consume()).toEqual([text]);
    for (const text of texts) expect(await from.next()).toEqual([text, '1', '']);
    await queue.drain();
    expect(queue.stats()).toMatchObject({ messages: 0, counters: { stored: 2000, redelivered: 0 } });
  });

  it('rule 42: gives a drained consumer nothing more, counts what each one does, and takes its acknowledgement', async () => {
    const { queue, receive, send } = await start();
    const from = producer(receive);
    const figures = () =>
      queue.stats({ detail: true }).detail.workers.map(({ state, running, done }) => ({ state, running, done }));
    const one = consumer(send);
    await from.ask('1', '', 'a');
    const a = await one.next();
    const { id } = queue.stats({ detail: true }).detail.workers[0]!;
    expect(figures()).toEqual([{ state: 'busy', running: 1, done: 0 }]);
    expect([queue.drainConsumer(id), queue.drainConsumer('nobody')]).toEqual([1, 0]);

    const two = consumer(send);
    for (const text of ['b', 'c', 'd']) await from.ask(text, '', text);
    const [b, c, d] = [await two.next(), await two.next(), await two.next()];
    expect([b.body, c.body, d.body]).toEqual([['b'], ['c'], ['d']]);
    one.answer(a, '1');
    two.answer(b, '1');
    while (queue.stats().messages > 2) await new Promise((resolve) => setImmediate(resolve));
    expect(figures()).toEqual([
      { state: 'idle', running: 0, done: 1 },
      { state: 'busy', running: 2, done: 1 },
    ]);
    await queue.close();
  });

  it('is two queues for a consumer that connects to two', async () => {
    const other = mkdtempSync(join(tmpdir(), 'pzq-'));
    const [one, two] = [await start(), await start({ store: `lmdb:${other}` })];
    const to = consumer(one.send, two.send);
    await producer(one.receive).ask('1', '', 'from one');
    await producer(two.receive).ask('2', '', 'from two');
    expect([await to.consume(), await to.consume()].flat().sort()).toEqual(['from one', 'from two']);
    await Promise.all([one.queue.drain(), two.queue.drain()]);
    expect([one.queue.stats().messages, two.queue.stats().messages]).toEqual([0, 0]);
    rmSync(other, { recursive: true });
  });

  it('carries any bytes, and bodies of megabytes', async () => {
    const { receive, send } = await start();
    const from = producer(receive);
    const to = consumer(send);
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, index) => index));
    for (const body of [[''], ['', ''], [bytes, '', bytes], [bytes.repeat(40_000)]]) {
      expect(await from.ask('id', '', ...body)).toEqual(['id', '1', '']);
      const received = await to.consume();
      expect(received.length === body.length && received.every((frame, index) => frame === body[index])).toBe(true);
    }
  });

  it('is refused a store that another one has open', async () => {
    await start();
    await expect(start()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('closes the store if an endpoint is taken', async () => {
    const other = mkdtempSync(join(tmpdir(), 'pzq-'));
    const { receive } = await start();
    await expect(start({ store: `lmdb:${other}`, receive })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await start({ store: `lmdb:${other}` }).then(({ queue }) => queue.close());
    rmSync(other, { recursive: true });
  });
});
