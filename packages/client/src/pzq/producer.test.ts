import { getEventListeners } from 'node:events';
import { latin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { silence, Stage } from '../../test/pzq/stage.js';
import { A, B } from '../../test/world.js';
import type { PzqProducerOptions, PzqSendOptions } from './options.js';
import { PzqProducer } from './producer.js';
import type { PzqProducerNote } from './engine/producer-events.js';

const ignore = (): void => {};

describe('send', () => {
  it('rule 23: resolves when the queue answers 1, body frames unchanged', async () => {
    const stage = new Stage();
    const queue = await stage.receiver();
    await stage.settle(stage.producer().send(['a', '', new Uint8Array([0, 255]), 'ü']));
    expect(queue.texts).toEqual(['a||\0\xff|\xc3\xbc']);
    expect(queue.produced[0]!.message.headers).toEqual([]);
  });

  it('rule 23: gives each message its own id, a UUID', async () => {
    const stage = new Stage();
    const queue = await stage.receiver();
    const producer = stage.producer();
    await stage.settle(Promise.all([producer.send('x'), producer.send('x')]));
    const ids = queue.produced.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('accepts the caller’s id, for queues that remember ids', async () => {
    const stage = new Stage();
    const queue = await stage.receiver();
    const producer = stage.producer();
    await stage.settle(producer.send('x', { id: 'order-17' }));
    await stage.settle(producer.send('x', { id: new Uint8Array([0, 1]) }));
    expect(queue.produced.map(({ id }) => id)).toEqual(['order-17', '\0\x01']);
  });

  it('refuses an id that is in use', async () => {
    const stage = new Stage();
    await stage.receiver(silence);
    const producer = stage.producer();
    producer.send('x', { id: 'same' }).catch(ignore);
    await expect(stage.settle(producer.send('y', { id: 'same' }))).rejects.toMatchObject({
      code: 'PROTOCOL_LOCAL',
      message: 'message: another message with id "same" is under way; choose another id',
    });
  });

  it('requests delay and time to live in headers', async () => {
    const stage = new Stage();
    const queue = await stage.receiver();
    await stage.settle(stage.producer().send('x', { delayMs: 1500, ttlMs: 0 }));
    expect(queue.produced[0]!.message.headers.map(latin1)).toEqual(['PZQ-DELAY-MS:1500', 'PZQ-TTL-MS:0']);
  });

  it('rule 23: rejects with the queue’s words on any status but 1', async () => {
    const stage = new Stage();
    await stage.receiver((produced) => produced.refused('Queue is full (bytes)'));
    await expect(stage.settle(stage.producer().send('x'))).rejects.toMatchObject({
      code: 'REJECTED',
      message: 'message: the queue did not store it: "Queue is full (bytes)"',
      details: { reason: 'Queue is full (bytes)', sends: 1 },
    });
  });

  it('rule 23: thousands at once arrive in order, never more than the window unanswered', async () => {
    const stage = new Stage();
    let most = 0;
    const held: (() => void)[] = [];
    const queue = await stage.receiver((produced) => {
      held.push(() => produced.stored());
      most = Math.max(most, held.length);
      if (held.length === 10) for (const answer of held.splice(0)) answer();
    });
    const producer = stage.producer({ window: 10 });
    const bodies = Array.from({ length: 2000 }, (_, i) => `body ${i}`);
    await stage.settle(Promise.all(bodies.map((body) => producer.send(body))));
    expect(queue.texts).toEqual(bodies);
    expect(most).toBe(10);
    expect(producer.stats()).toMatchObject({ sends: 2000, stored: 2000, unacknowledged: 0, waiting: 0 });
  });

  it('rule 23: resends under the same id if no answer comes', async () => {
    const stage = new Stage();
    const queue = await stage.receiver(silence);
    const producer = stage.producer({ ackTimeoutMs: 1000 });
    const notes: PzqProducerNote[] = [];
    producer.on('note', (note) => notes.push(note));
    const sent = producer.send('x');
    await stage.advance(999);
    expect(queue.texts).toEqual(['x']);
    queue.answer = (produced) => produced.stored();
    await stage.settle(sent);
    expect(queue.texts).toEqual(['x', 'x']);
    expect(queue.produced[0]!.id).toBe(queue.produced[1]!.id);
    expect(notes).toEqual([{ code: 'messages-resent', cause: 'silence', endpoint: A, messages: 1 }]);
  });

  it('rule 23: resends under the same ids, in order, to a restarted queue', async () => {
    const stage = new Stage();
    const first = await stage.receiver(silence);
    const producer = stage.producer();
    const sent = Promise.all(['x', 'y', 'z'].map((body) => producer.send(body)));
    await stage.settle(first.received(3));
    await first.close();
    const second = await stage.receiver(undefined, A, 'restarted');
    await stage.settle(sent);
    expect(second.texts).toEqual(['x', 'y', 'z']);
    expect(second.produced.map(({ id }) => id)).toEqual(first.produced.map(({ id }) => id));
  });

  it('goes to the next endpoint if the first one is down', async () => {
    const stage = new Stage();
    const queue = await stage.receiver(undefined, B);
    const producer = stage.producer({ endpoints: [A, B], ackTimeoutMs: 100 });
    await stage.settle(producer.send('x'));
    expect(queue.texts).toEqual(['x']);
    await stage.settle(producer.send('y'));
    expect(producer.stats().connections).toBe(2);
  });

  it('waits for ever, or for timeoutMs', async () => {
    const stage = new Stage();
    const producer = stage.producer({ ackTimeoutMs: 1000, timeoutMs: 3500 });
    await expect(stage.settle(producer.send('x'))).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: `message: not acknowledged within 3500 ms, 4 sends (${A}); ${A}: not connected: connect ECONNREFUSED ${A}`,
    });
    expect(stage.network.clock.now()).toBe(3500);
  });

  it('ends with the caller’s signal', async () => {
    const stage = new Stage();
    await stage.receiver(silence);
    const producer = stage.producer();
    const abort = new AbortController();
    const sent = producer.send('x', { signal: abort.signal });
    sent.catch(ignore);
    await stage.advance(10);
    abort.abort('enough');
    await expect(sent).rejects.toBe('enough');
    await expect(producer.send('y', { signal: abort.signal })).rejects.toBe('enough');
    expect(producer.stats()).toMatchObject({ aborts: 1, unacknowledged: 0 });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('an abort before the transport is loaded sends nothing', async () => {
    const stage = new Stage();
    const queue = await stage.receiver();
    const producer = stage.producer();
    const abort = new AbortController();
    const sent = producer.send('x', { signal: abort.signal });
    abort.abort('enough');
    await expect(sent).rejects.toBe('enough');
    await stage.settle(producer.send('y'));
    expect(queue.texts).toEqual(['y']);
  });

  it.each<[string, PzqSendOptions, string]>([
    ['an empty id', { id: '' }, 'PzqProducer send: option id = "": must be 1 to 255 bytes'],
    ['an id of 256 bytes', { id: 'ü'.repeat(128) }, 'must be 1 to 255 bytes'],
    ['a negative delay', { delayMs: -1 }, 'PzqProducer send: option delayMs = -1'],
    ['an unknown option', { ttl: 1 } as PzqSendOptions, 'unknown option ttl: did you mean `ttlMs`?'],
  ])('refuses %s', async (_, options, message) => {
    const failure: unknown = await new Stage()
      .producer()
      .send('x', options)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'OPTIONS_INVALID' });
    expect((failure as Error).message).toContain(message);
  });

  it.each<[string, string[], string]>([
    ['without frames', [], 'message: the body has no frame'],
    ['of too many frames', Array<string>(9).fill(''), 'message: the body has 9 frames; the limit is 8'],
  ])('refuses a body %s', async (_, body, message) => {
    const failure: unknown = await new Stage()
      .producer({ maxMessageFrames: 12 })
      .send(body)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'PROTOCOL_LOCAL' });
    expect((failure as Error).message).toContain(message);
  });
});

describe('flush, drain and close', () => {
  it('flush resolves with the last outcome of what was sent before, whatever comes after', async () => {
    const stage = new Stage();
    const held: (() => void)[] = [];
    const queue = await stage.receiver((produced) => held.push(() => produced.stored()));
    const producer = stage.producer();
    const outcomes: string[] = [];
    const note = (what: string) => (): void => void outcomes.push(what);
    void producer.send('x').then(note('x'));
    void producer.send('y').then(note('y'));
    const flushed = producer.flush().then(note('flushed'));
    void producer.send('z').then(note('z'));
    await stage.settle(queue.received(3));
    for (const index of [2, 1]) held[index]!();
    await stage.advance(10);
    expect(outcomes).toEqual(['z', 'y']);
    held[0]!();
    await stage.settle(flushed);
    expect(outcomes).toEqual(['z', 'y', 'x', 'flushed']);
  });

  it('flush resolves at once if nothing is in flight, and after refusals', async () => {
    const stage = new Stage();
    await stage.receiver((produced) => produced.refused('no'));
    const producer = stage.producer();
    await producer.flush();
    producer.send('x').catch(ignore);
    await stage.settle(Promise.all([producer.flush(), producer.flush()]));
    expect(producer.stats().failures.REJECTED).toBe(1);
  });

  it('drain waits for outcomes, accepts nothing new and closes', async () => {
    const stage = new Stage();
    const held: (() => void)[] = [];
    const queue = await stage.receiver((produced) => held.push(() => produced.stored()));
    const producer = stage.producer();
    const sent = producer.send('x');
    const drained = producer.drain();
    await expect(producer.send('late')).rejects.toMatchObject({ code: 'CLOSED' });
    await stage.settle(queue.received(1));
    held[0]!();
    await stage.settle(Promise.all([sent, drained]));
    expect(stage.transport.openPorts).toBe(0);
    expect(stage.transport.armedTimers).toBe(0);
  });

  it('drain gives up after drainMs', async () => {
    const stage = new Stage();
    const producer = stage.producer({ drainMs: 2000 });
    const sent = producer.send('x');
    sent.catch(ignore);
    await stage.settle(producer.drain());
    await expect(sent).rejects.toMatchObject({ code: 'CLOSED', message: 'message: the producer is closed' });
    expect(stage.network.clock.now()).toBe(2000);
  });

  it('close rejects what is in flight, leaves nothing open, and may be repeated', async () => {
    const stage = new Stage();
    const queue = await stage.receiver(silence);
    const producer = stage.producer({ window: 1 });
    const calls = [producer.send('x'), producer.send('waits')];
    for (const call of calls) call.catch(ignore);
    await stage.settle(queue.received(1));
    await stage.settle(Promise.all([producer.close(), producer.close(), producer[Symbol.asyncDispose]()]));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(producer.send('y')).rejects.toMatchObject({ code: 'CLOSED' });
    expect(stage.transport.openPorts).toBe(0);
    expect(stage.transport.armedTimers).toBe(0);
  });

  it('a close while the transport loads rejects early sends', async () => {
    const stage = new Stage();
    const producer = stage.producer();
    const sent = producer.send('x');
    sent.catch(ignore);
    await producer.close();
    await expect(sent).rejects.toMatchObject({ code: 'CLOSED' });
    expect(stage.transport.openPorts).toBe(0);
  });
});

describe('invalid use', () => {
  it.each<[PzqProducerOptions, string]>([
    [{ window: 0 }, 'PzqProducer: option window = 0'],
    [{ endpoints: [] }, 'PzqProducer: option endpoints = an array'],
    [{ ackTimeoutMs: 0 }, 'PzqProducer: option ackTimeoutMs = 0'],
    [{ tries: 3 } as PzqProducerOptions, 'PzqProducer: unknown option tries: must be one of '],
  ])('options %j are refused', (options, message) => {
    expect(() => new PzqProducer(options)).toThrow(message);
  });

  it('an endpoint that no transport understands fails the call, and the next one', async () => {
    const stage = new Stage();
    const producer = stage.producer({ endpoints: ['tcp://nowhere'] });
    for (const body of ['x', 'y'])
      await expect(stage.settle(producer.send(body))).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(stage.transport.openPorts).toBe(0);
  });

  it('a machine without ZeroMQ fails every call so far; the next one tries again', async () => {
    const stage = new Stage();
    let loads = 0;
    const transport = {
      clock: stage.transport.clock,
      entropy: stage.transport.entropy,
      load: () => (++loads === 1 ? Promise.reject(new Error('no ZeroMQ')) : Promise.resolve()),
      router: () => stage.transport.router(),
      dealer: () => stage.transport.dealer(),
      publisher: () => stage.transport.publisher(),
      subscriber: () => stage.transport.subscriber(),
    };
    await stage.receiver();
    const producer = stage.producer({ transport });
    await expect(producer.send('x')).rejects.toThrow('no ZeroMQ');
    await stage.settle(producer.send('y'));
    expect(producer.stats().stored).toBe(1);
  });
});
