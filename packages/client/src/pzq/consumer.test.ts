import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Stage } from '../../test/pzq/stage.js';
import { A, B } from '../../test/world.js';
import { PzqConsumer } from './consumer.js';
import type { PzqMessage } from './message.js';
import type { PzqConsumerOptions } from './options.js';

const text = (message: PzqMessage): string => message.body.map((frame) => frame.toString()).join('|');
const ignore = (): void => {};

/** Something that a test ends when it likes. */
function gate() {
  let open: () => void = ignore;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

describe('receive', () => {
  it('rule 24: brings body, key, times and queue; ack answers 1', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const received = consumer.receive();
    queue.deliver('key', 'a||b');
    const message = (await stage.settle(received))!;
    expect(message.body).toEqual([Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')]);
    expect(message.body.every((frame) => Buffer.isBuffer(frame))).toBe(true);
    expect(message).toMatchObject({ key: 'key', ackTimeoutMs: 5000, verdict: undefined });
    expect(message.server).toMatch(/^00[0-9a-f]{8}$/);
    message.ack();
    expect(message.verdict).toBe('ack');
    await stage.settle(queue.heard(1));
    expect(queue.lines).toEqual(['+key']);
  });

  it('rule 24: the first verdict counts, and a lease can be extended only before it', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const received = stage.consumer().receive();
    queue.deliver('key', 'x');
    const message = (await stage.settle(received))!;
    message.extend();
    message.nack();
    message.ack();
    message.leave();
    message.extend();
    await stage.settle(queue.heard(2));
    await stage.advance(100);
    expect(queue.lines).toEqual(['key', '-key']);
  });

  it('rule 24: takes messages from several queues and answers each its own', async () => {
    const stage = new Stage();
    const [first, second] = [await stage.sender(A), await stage.sender(B)];
    const consumer = stage.consumer({ endpoints: [A, B] });
    const both = Promise.all([consumer.receive(), consumer.receive()]);
    first.deliver('a', 'x');
    second.deliver('b', 'y');
    const messages = await stage.settle(both);
    for (const message of messages) message!.ack();
    await stage.settle(Promise.all([first.heard(1), second.heard(1)]));
    expect([first.lines, second.lines]).toEqual([['+a'], ['+b']]);
    expect(new Set(messages.map((message) => message!.server)).size).toBe(2);
  });

  it('rule 24: continues when its queue comes back', async () => {
    const stage = new Stage();
    const first = await stage.sender();
    const consumer = stage.consumer();
    const one = consumer.receive();
    first.deliver('x', 'x');
    const message = (await stage.settle(one))!;
    await first.close();
    const second = await stage.sender(A, 'restarted');
    const two = consumer.receive();
    second.deliver('y', 'y');
    expect(text((await stage.settle(two))!)).toBe('y');
    message.ack();
    await stage.settle(second.heard(1));
    expect(second.lines).toEqual(['+x']);
  });

  it('an aborted call takes no message', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const abort = new AbortController();
    const aborted = consumer.receive({ signal: abort.signal });
    aborted.catch(ignore);
    await stage.advance(10);
    const next = consumer.receive();
    abort.abort('enough');
    await expect(aborted).rejects.toBe('enough');
    await expect(consumer.receive({ signal: abort.signal })).rejects.toBe('enough');
    queue.deliver('x', 'x');
    expect(text((await stage.settle(next))!)).toBe('x');
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('rule 24: at most prefetch plus one are taken while nothing is settled', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer({ prefetch: 2 });
    const first = consumer.receive();
    for (let i = 0; i < 20; i++) queue.deliver(`k${i}`, `${i}`);
    const message = (await stage.settle(first))!;
    await stage.advance(1000);
    const { waiting, unsettled } = consumer.stats();
    expect(unsettled).toBe(1);
    expect(waiting).toBeLessThanOrEqual(2);
    // The rest stays in the queue, except for what the connection's own marks of 1 hold.
    expect(queue.waiting).toBeGreaterThan(10);
    message.ack();
    for (let i = 1; i < 20; i++) {
      const next = (await stage.settle(consumer.receive()))!;
      expect(text(next)).toBe(`${i}`);
      next.ack();
    }
    await stage.settle(queue.heard(20));
    expect(queue.waiting).toBe(0);
  });
});

describe('the iterator', () => {
  it('yields messages as they come and ends with the consumer', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    for (let i = 0; i < 5; i++) queue.deliver(`k${i}`, `${i}`);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const message of consumer) {
        seen.push(text(message));
        message.ack();
      }
    })();
    await stage.settle(queue.heard(5));
    await stage.settle(Promise.all([consumer.drain(), reading]));
    expect(seen).toEqual(['0', '1', '2', '3', '4']);
    expect(stage.transport.openPorts).toBe(0);
    expect(stage.transport.armedTimers).toBe(0);
  });
});

describe('run', () => {
  it('rule 24: acknowledges after the handler has resolved, concurrency at a time', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const gates = Array.from({ length: 6 }, gate);
    let running = 0;
    let most = 0;
    let started = 0;
    const run = consumer.run(
      async () => {
        const { opened } = gates[started++]!;
        most = Math.max(most, ++running);
        await opened;
        running--;
      },
      { concurrency: 2 },
    );
    for (let i = 0; i < 6; i++) queue.deliver(`k${i}`, 'x');
    await stage.advance(100);
    expect([started, queue.lines.length]).toEqual([2, 0]);
    for (const { open } of gates) open();
    await stage.settle(queue.heard(6));
    expect(most).toBe(2);
    expect(queue.lines.toSorted()).toEqual(['+k0', '+k1', '+k2', '+k3', '+k4', '+k5']);
    await stage.settle(Promise.all([consumer.drain(), run]));
  });

  it.each([
    ['nack', ['-bad', '+good']],
    ['leave', ['+good']],
  ] as const)(
    'rule 24: onError %s: rejections of the handler are reported and settled that way',
    async (onError, lines) => {
      const stage = new Stage();
      const queue = await stage.sender();
      const consumer = stage.consumer();
      const errors: unknown[] = [];
      consumer.on('error', ({ error, message }) => errors.push([error, message?.key]));
      const run = consumer.run(
        (message) => {
          if (message.key === 'bad') throw new Error('cannot');
        },
        { onError },
      );
      queue.deliver('bad', 'x');
      queue.deliver('good', 'x');
      await stage.settle(queue.heard(lines.length));
      expect(queue.lines).toEqual(lines);
      expect(errors).toEqual([[new Error('cannot'), 'bad']]);
      await stage.settle(Promise.all([consumer.drain(), run]));
    },
  );

  it('keeps what the handler itself has decided', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const run = consumer.run((message) => message.nack());
    queue.deliver('x', 'x');
    await stage.settle(queue.heard(1));
    await stage.settle(Promise.all([consumer.drain(), run]));
    expect(queue.lines).toEqual(['-x']);
  });

  it('ends with its signal, after the handlers', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const abort = new AbortController();
    const { open, opened } = gate();
    let ended = false;
    const run = consumer.run(() => opened, { signal: abort.signal }).then(() => (ended = true));
    queue.deliver('x', 'x');
    await stage.advance(100);
    abort.abort();
    await stage.advance(100);
    expect(ended).toBe(false);
    open();
    await stage.settle(run);
    await stage.settle(queue.heard(1));
    await stage.settle(consumer.run(ignore, { signal: abort.signal }));
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('refuses more concurrency than prefetch allows', async () => {
    const run = new Stage().consumer({ prefetch: 2 }).run(ignore, { concurrency: 3 });
    await expect(run).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: 'PzqConsumer run: option concurrency = 3: must not exceed option prefetch = 2',
    });
  });
});

describe('drain and close', () => {
  it('drain returns what waits, waits for handed-out messages, and closes', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer({ prefetch: 3 });
    const first = consumer.receive();
    for (const key of ['x', 'y', 'z']) queue.deliver(key, key);
    const message = (await stage.settle(first))!;
    await stage.advance(100);
    const waiting = consumer.receive();
    const other = (await stage.settle(waiting))!;
    other.ack();
    const drained = consumer.drain();
    await stage.settle(queue.heard(1));
    await stage.advance(100);
    expect(queue.lines).toEqual(['+y']);
    message.ack();
    await stage.settle(Promise.all([drained, queue.heard(3)]));
    expect(queue.lines).toEqual(['+y', '+x', '-z']);
    expect(await consumer.receive()).toBeUndefined();
  });

  it('drain gives up after drainMs', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer({ drainMs: 2000 });
    const first = consumer.receive();
    queue.deliver('x', 'x', { timeoutMs: 60_000 });
    await stage.settle(first);
    const before = stage.network.clock.now();
    await stage.settle(consumer.drain());
    expect(stage.network.clock.now() - before).toBe(2000);
    expect(stage.transport.armedTimers).toBe(0);
  });

  it('close ends readers and aborts handlers; later verdicts do nothing', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    let reason: unknown;
    const run = consumer.run(async (_, { signal }) => {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      reason = signal.reason;
    });
    queue.deliver('x', 'x');
    await stage.advance(100);
    const reader = consumer.receive();
    await stage.settle(Promise.all([consumer.close(), consumer.close(), consumer[Symbol.asyncDispose](), run]));
    expect(await reader).toBeUndefined();
    expect(reason).toMatchObject({ code: 'CLOSED' });
    expect(queue.lines).toEqual([]);
    expect(stage.transport.openPorts).toBe(0);
  });

  it('a consumer that never read closes at once, and one that is opening opens nothing', async () => {
    const stage = new Stage();
    await stage.settle(stage.consumer().drain());
    const consumer = stage.consumer();
    const reader = consumer.receive();
    await stage.settle(consumer.close());
    expect(await reader).toBeUndefined();
    expect(stage.transport.openPorts).toBe(0);
  });
});

describe('invalid use', () => {
  it.each<[PzqConsumerOptions, string]>([
    [{ prefetch: 0 }, 'PzqConsumer: option prefetch = 0'],
    [{ endpoints: ['x'] }, 'PzqConsumer: option endpoints.0 = "x"'],
    [{ dedupeMax: -1 }, 'PzqConsumer: option dedupeMax = -1'],
  ])('options %j are refused', (options, message) => {
    expect(() => new PzqConsumer(options)).toThrow(message);
  });

  it('an endpoint that no transport understands fails the reader and leaves nothing open', async () => {
    const stage = new Stage();
    const consumer = stage.consumer({ endpoints: [A, 'tcp://nowhere'] });
    for (let i = 0; i < 2; i++)
      await expect(stage.settle(consumer.receive())).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await stage.advance(100);
    expect(stage.transport.openPorts).toBe(0);
  });

  it('rule 24: clocks that disagree are reported as an error, once', async () => {
    const stage = new Stage();
    const queue = await stage.sender();
    const consumer = stage.consumer();
    const errors: unknown[] = [];
    consumer.on('error', ({ error }) => errors.push(error));
    const reader = consumer.receive();
    for (let i = 0; i < 40; i++) queue.deliver(`k${i}`, 'x', { agoMs: 3_600_000 });
    expect((await stage.settle(reader))!.key).toBe('k19');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'EXPIRED' });
    expect((errors[0] as Error).message).toContain('the clocks of queue and consumer disagree');
  });
});
