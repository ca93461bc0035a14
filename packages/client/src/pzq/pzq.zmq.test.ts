import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zmqTransport } from '@proj/transport/zmq';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ScriptedReceiver, ScriptedSender, silence, storing } from '../../test/pzq/stage.js';
import type { Produced } from '../../test/pzq/stage.js';
import { PzqConsumer } from './consumer.js';
import type { PzqConsumerOptions, PzqProducerOptions } from './options.js';
import { PzqProducer } from './producer.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function keep<One extends { close(): Promise<void> }>(one: One): One {
  open.push(one);
  return one;
}

/** Sockets in one process need no port, so no other process can take it. */
const folder = mkdtempSync(join(tmpdir(), 'proj-pzq-'));
let names = 0;
const endpointOf = (what: string): string => `ipc://${folder}/${++names}-${what}`;

afterAll(() => rmSync(folder, { recursive: true }));

const receiver = async (answer: (produced: Produced) => void, endpoint = endpointOf('receive')) =>
  keep(await ScriptedReceiver.start(zmqTransport(), endpoint, answer));
const sender = async (endpoint = endpointOf('send')) => keep(await ScriptedSender.start(zmqTransport(), endpoint));
const producer = (options: PzqProducerOptions) => keep(new PzqProducer(options));
const consumer = (options: PzqConsumerOptions) => keep(new PzqConsumer(options));

/** For real processes and a busy machine: far more than anything here takes. */
const PATIENCE = 60_000;

describe('over real sockets', () => {
  it('rule 23: 5000 messages of any bytes are acknowledged and arrive in order', async () => {
    const queue = await receiver(storing);
    const own = producer({ endpoints: [queue.endpoint], window: 200, ackTimeoutMs: PATIENCE });
    const bodies = Array.from({ length: 5000 }, (_, i) => [`${i}`, '', Buffer.from([0, 255, i % 256])]);
    await Promise.all(bodies.map((body) => own.send(body)));
    expect(queue.texts).toEqual(bodies.map(([head], i) => `${head as string}||\0\xff${String.fromCharCode(i % 256)}`));
    expect(own.stats()).toMatchObject({ sends: 5000, stored: 5000, unacknowledged: 0 });
  });

  it('rule 23: messages that a queue lost are resent to its successor, same ids, same order', async () => {
    const first = await receiver(silence);
    const own = producer({ endpoints: [first.endpoint], ackTimeoutMs: 500 });
    const sent = Promise.all(Array.from({ length: 50 }, (_, i) => own.send(`${i}`)));
    await first.received(50);
    await first.close();
    const second = await receiver(storing, first.endpoint);
    await sent;
    // On a busy machine either queue may get some more than once.
    const [lost, stored] = [first, second].map(({ produced }) => [...new Set(produced.map(({ id }) => id))]);
    expect(lost).toHaveLength(50);
    expect(stored).toEqual(lost);
  });

  it('rule 24: 2000 messages of two queues are handled once each and acknowledged where they came from', async () => {
    const queues = [await sender(), await sender()];
    const own = consumer({ endpoints: queues.map(({ endpoint }) => endpoint), prefetch: 16 });
    const seen: string[] = [];
    const run = own.run(({ key }) => void seen.push(key), { concurrency: 4 });
    for (const [index, queue] of queues.entries())
      for (let i = 0; i < 1000; i++) queue.deliver(`${index}-${i}`, 'x', { timeoutMs: PATIENCE });
    await Promise.all(queues.map((queue) => queue.heard(1000)));
    await Promise.all([own.drain(), run]);
    expect(seen.length).toBe(2000);
    for (const [index, { lines }] of queues.entries())
      expect(lines).toEqual(Array.from({ length: 1000 }, (_, i) => `+${index}-${i}`));
  });

  it('rule 24: a consumer with a full prefetch leaves the rest to another one', async () => {
    const queue = await sender();
    const slow = consumer({ endpoints: [queue.endpoint], prefetch: 1 });
    const held = slow.receive();
    // Larger than the kernel's buffers in all.
    const body = 'x'.repeat(200_000);
    for (let i = 0; i < 200; i++) queue.deliver(`${i}`, body, { timeoutMs: PATIENCE });
    const message = await held;
    const quick = consumer({ endpoints: [queue.endpoint] });
    const run = quick.run(() => undefined);
    await queue.heard(100);
    expect(slow.stats()).toMatchObject({ unsettled: 1 });
    expect(slow.stats().waiting).toBeLessThanOrEqual(1);
    message!.ack();
    await Promise.all([quick.drain(), run]);
  });
});
