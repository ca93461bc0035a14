// Our producer and consumer at a foreign queue (rules 23 and 24 of docs/protocols/pzq.md).
import { nextEvent, ownEndpoint } from '@proj/testkit';
import type { PzqConsumerEvents, PzqProducerEvents } from '@proj/client/pzq';
import { describe, expect, it } from 'vitest';
import { stage } from './stage.js';

const theater = stage();
const text = (body: readonly Buffer[]): string => body.map(String).join('|');

describe('PZQ: a Python queue and our producer', () => {
  it('rule 23: frames before the blank are accepted, and so is text after it', async () => {
    const { queue, receive } = await theater.pythonQueue({ more: 1 });
    await theater.producer({ endpoints: [receive] }).send(['x', '', 'y']);
    expect(await queue.line('received')).toMatchObject({ headers: [], body: ['78', '', '79'] });
  });

  it('rule 23: any status but 1 rejects with the queue’s words', async () => {
    const { receive } = await theater.pythonQueue({ refuse: 'No more today', more: 1 });
    await expect(theater.producer({ endpoints: [receive] }).send('x')).rejects.toMatchObject({
      code: 'REJECTED',
      details: { reason: 'No more today' },
    });
  });

  it('rule 23: unanswered messages are resent under the same id', async () => {
    const { queue, receive } = await theater.pythonQueue({ forget: 3 });
    const producer = theater.producer({ endpoints: [receive], ackTimeoutMs: 300 });
    await Promise.all(['x', 'y', 'z'].map((body) => producer.send(body)));
    await queue.line('received', {}, 6);
    // The number of connections depends on luck; what matters is that each message kept its id.
    const ids = queue.lines('received').map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it('rule 23: after a restart, a killed queue gets the messages that were not answered', async () => {
    const receive = await ownEndpoint();
    const { queue } = await theater.pythonQueue({ receive, forget: 1000 });
    const producer = theater.producer({ endpoints: [receive] });
    const lost = nextEvent<PzqProducerEvents, 'note'>(producer, 'note');
    const sent = Promise.all(['x', 'y', 'z'].map((body) => producer.send(body)));
    await queue.line('received', {}, 3);
    const ids = queue
      .lines('received')
      .slice(0, 3)
      .map(({ id }) => id);
    queue.kill('SIGKILL');
    await lost;
    const { queue: second } = await theater.pythonQueue({ receive });
    await sent;
    await second.line('received', {}, 3);
    expect(
      second
        .lines('received')
        .slice(0, 3)
        .map(({ id }) => id),
    ).toEqual(ids);
  });

  it('goes to the next endpoint if nobody answers at the first', async () => {
    const { receive } = await theater.pythonQueue({ forget: 1_000_000 });
    const { queue, receive: next } = await theater.pythonQueue();
    await theater.producer({ endpoints: [receive, next], ackTimeoutMs: 300 }).send('x');
    await queue.line('received');
  });
});

describe('PZQ: a Python queue and our consumer', () => {
  it('rule 24: headers before the blank are ignored, acknowledgements are 1 and 0', async () => {
    const { queue, receive, send } = await theater.pythonQueue({ more: 1 });
    await theater.storeBy('ours', receive, [[Buffer.from('x'), Buffer.alloc(0)]]);
    const consumer = theater.consumer({ endpoints: [send] });
    const first = (await consumer.receive())!;
    expect(text(first.body)).toBe('x|');
    first.nack();
    const second = (await consumer.receive())!;
    expect(second.key).toBe(first.key);
    second.ack();
    await queue.line('acked', { key: first.key, positive: true });
    expect(queue.lines('acked').map(({ positive }) => positive)).toEqual([false, true]);
  });

  it('rule 24: a handler that rejects returns its message, and handles it when it comes again', async () => {
    const { queue, receive, send } = await theater.pythonQueue();
    await theater.storeBy('ours', receive, [[Buffer.from('x')]]);
    const consumer = theater.consumer({ endpoints: [send] });
    let calls = 0;
    const run = consumer.run(() => {
      if (++calls === 1) throw new Error('once');
    });
    await queue.line('acked', { positive: true });
    expect([calls, queue.lines('acked').length]).toEqual([2, 2]);
    await Promise.all([consumer.drain(), run]);
  });

  it('rule 24: a message that comes again after it was acknowledged is acknowledged again but not handled', async () => {
    const { queue, receive, send } = await theater.pythonQueue({ deaf: 1, 'ack-timeout-ms': 500 });
    await theater.storeBy('ours', receive, [[Buffer.from('x')]]);
    const consumer = theater.consumer({ endpoints: [send], dropExpired: false });
    (await consumer.receive())!.ack();
    const reader = consumer.receive();
    await queue.line('acked', { positive: true }, 2);
    const { handedOut, acked, repeated } = consumer.stats();
    expect([handedOut, acked]).toEqual([1, 1]);
    expect(repeated).toBeGreaterThanOrEqual(1);
    await consumer.close();
    expect(await reader).toBeUndefined();
  });

  it('rule 24: deliveries that are too old are dropped; after 20 in a row the clocks are suspected', async () => {
    const { queue, receive, send } = await theater.pythonQueue();
    queue.tell({ do: 'stale' });
    const consumer = theater.consumer({ endpoints: [send] });
    const suspected = nextEvent<PzqConsumerEvents, 'error'>(consumer, 'error');
    const reader = consumer.receive();
    // Commands may be read late: earlier deliveries are good, and no reason for suspicion.
    await queue.line('stale');
    await theater.storeBy(
      'ours',
      receive,
      Array.from({ length: 25 }, (_, i) => [Buffer.from(`${i}`)]),
    );
    expect((await suspected).error).toMatchObject({ code: 'EXPIRED' });
    expect(queue.lines('acked')).toEqual([]);
    expect(String((await reader)?.body[0])).toBe('19');
    expect(consumer.stats().dropped).toEqual({ expired: 19 });
    await consumer.close();
  });

  it('asks for more time with a key alone', async () => {
    const { queue, receive, send } = await theater.pythonQueue();
    await theater.storeBy('ours', receive, [[Buffer.from('x')]]);
    const message = (await theater.consumer({ endpoints: [send] }).receive())!;
    message.extend();
    message.ack();
    await queue.line('acked', { positive: true });
    expect(queue.lines('extended')).toMatchObject([{ key: message.key }]);
  });

  it('takes from two queues and answers each on its own', async () => {
    const queues = [await theater.pythonQueue(), await theater.pythonQueue()];
    for (const { receive } of queues) await theater.storeBy('ours', receive, [[Buffer.from('x')], [Buffer.from('y')]]);
    const consumer = theater.consumer({ endpoints: queues.map(({ send }) => send) });
    const run = consumer.run(() => undefined);
    await Promise.all(queues.map(({ queue }) => queue.line('acked', { positive: true }, 2)));
    await Promise.all([consumer.drain(), run]);
  });
});
