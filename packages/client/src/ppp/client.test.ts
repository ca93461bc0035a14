import { getEventListeners } from 'node:events';
import { defineService, encodeFault } from '@proj/frames/service';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { echo, ScriptedQueue, silence, Stage } from '../../test/ppp/stage.js';
import { A, B, text } from '../../test/world.js';
import { LazyPirateClient } from './client.js';
import type { LazyPirateOptions, LazyPirateRequestOptions } from './options.js';
import type { LazyPirateNote } from './engine/session.js';

describe('request', () => {
  it('rule 1: sends an empty frame and the body, like a REQ socket', async () => {
    const stage = new Stage();
    const queue = await stage.queue(echo);
    const reply = await stage.settle(stage.client().request(['a', '', new Uint8Array([0, 255])]));
    expect(reply).toEqual([Buffer.from('a'), Buffer.alloc(0), Buffer.from([0, 255])]);
    expect(reply.every((frame) => Buffer.isBuffer(frame))).toBe(true);
    expect(queue.asked).toMatchObject([{ request: { hops: [] } }]);
    expect(queue.nonsense).toEqual([]);
  });

  it.each([
    ['text', 'grün', 'grün'],
    ['bytes', new Uint8Array([104, 105]), 'hi'],
    ['a Buffer', Buffer.from('hi'), 'hi'],
    ['an empty frame', '', ''],
  ])('accepts %s as body', async (_, body, expected) => {
    const stage = new Stage();
    await stage.queue(echo);
    expect(text(await stage.settle(stage.client().request(body)))).toBe(expected);
  });

  it('rule 2: many calls at once share a few sockets, and each gets its own reply', async () => {
    const stage = new Stage();
    const held: (() => void)[] = [];
    await stage.queue((asked) => {
      held.push(() => echo(asked));
      if (held.length === 4) for (const answer of held.splice(0).reverse()) answer();
    });
    const client = stage.client({ sockets: 4 });
    const calls = Array.from({ length: 40 }, (_, i) => client.request(`body ${i}`));
    const replies = await stage.settle(Promise.all(calls));
    expect(replies.map(text)).toEqual(calls.map((_, i) => `body ${i}`));
    expect(client.stats()).toMatchObject({ lanes: 4, busy: 0, waiting: 0, calls: 40, sends: 40, finals: 40 });
  });

  it('rule 2: calls beyond waitingMax are refused', async () => {
    const stage = new Stage();
    await stage.queue(silence);
    const client = stage.client({ sockets: 1, waitingMax: 1 });
    void client.request('1').catch(() => {});
    void client.request('2').catch(() => {});
    await expect(stage.settle(client.request('3'))).rejects.toMatchObject({
      code: 'QUEUE_FULL',
      message: 'request: too many calls are waiting for a socket (option waitingMax)',
    });
  });

  it.each<[string, (string | Uint8Array)[], string]>([
    ['without the empty frame', ['wrong'], 'reply-malformed'],
    ['without content', [''], 'reply-malformed'],
    ['with address hops', ['hop', '', 'wrong'], 'reply-address'],
    ['of too many frames', ['', ...Array<string>(20).fill('wrong')], 'too-many-frames'],
  ])('rule 4: a reply %s is dropped, and the call keeps waiting', async (_, frames, reason) => {
    const stage = new Stage();
    await stage.queue((asked) => {
      asked.raw(frames);
      asked.reply('right');
    });
    const client = stage.client({ maxMessageFrames: 10 });
    expect(text(await stage.settle(client.request('x')))).toBe('right');
    expect(client.stats().dropped).toEqual({ [reason]: 1 });
  });
});

describe('matches', () => {
  it('rule 6: accepts a reply that is recognized by its content, like the sequence number of the Guide’s client', async () => {
    const stage = new Stage();
    await stage.queue((asked) => {
      asked.reply('41');
      asked.reply('42');
    });
    const client = stage.client();
    const seen: Buffer[][] = [];
    const matches = (reply: Buffer[]) => {
      seen.push(reply);
      return String(reply[0]) === '42';
    };
    expect(text(await stage.settle(client.request('42', { matches })))).toBe('42');
    expect(seen).toEqual([[Buffer.from('41')], [Buffer.from('42')]]);
    expect(seen.flat().every(Buffer.isBuffer)).toBe(true);
    expect(client.stats().dropped).toEqual({ 'reply-mismatch': 1 });
  });

  it('rule 6: without a match the call times out', async () => {
    const stage = new Stage();
    await stage.queue(echo);
    const call = stage.client().request('x', { matches: () => false, tries: 2, timeoutMs: 100 });
    await expect(stage.settle(call)).rejects.toMatchObject({ code: 'TIMEOUT', details: { tries: 2 } });
  });

  it('rule 6: a predicate that throws ends only its own call', async () => {
    const stage = new Stage();
    await stage.queue(echo);
    const client = stage.client();
    const thrown = new Error('cannot read that');
    const call = client.request('x', {
      matches: () => {
        throw thrown;
      },
    });
    const other = client.request('y');
    await expect(stage.settle(call)).rejects.toBe(thrown);
    expect(text(await stage.settle(other))).toBe('y');
  });
});

describe('a queue that does not answer', () => {
  it('rule 3: TIMEOUT names endpoints, sends and total time, and each send had its own socket', async () => {
    const stage = new Stage();
    const queue = await stage.queue(silence);
    const client = stage.client({ timeoutMs: 1000, tries: 3 });
    await expect(stage.settle(client.request('x'))).rejects.toMatchObject({
      name: 'ProjError',
      code: 'TIMEOUT',
      message: `request: no answer to 3 sends in 3000 ms (${A}, ${A}, ${A}); ${A}: connected, but it did not answer`,
      details: { endpoints: [A, A, A], tries: 3, totalMs: 3000 },
    });
    expect(queue.asked.map((asked) => asked.text)).toEqual(['x', 'x', 'x']);
    expect(new Set(queue.asked.map(({ peer }) => peer.key)).size).toBe(3);
  });

  it('rule 3: waits 2500 ms three times by default', async () => {
    const stage = new Stage();
    await stage.queue(silence);
    await expect(stage.settle(stage.client().request('x'))).rejects.toMatchObject({
      details: { tries: 3, totalMs: 7500 },
    });
  });

  it.each<[string, LazyPirateRequestOptions, number]>([
    ['tries 1', { tries: 1 }, 1],
    ['retries 0', { retries: 0 }, 1],
    ['retries 4', { retries: 4 }, 5],
    ['none of both', {}, 3],
  ])('rule 3: sends as often as %s says', async (_, options, sends) => {
    const stage = new Stage();
    const queue = await stage.queue(silence);
    const call = stage.client().request('x', { timeoutMs: 100, ...options });
    await expect(stage.settle(call)).rejects.toMatchObject({ code: 'TIMEOUT', details: { tries: sends } });
    expect(queue.asked).toHaveLength(sends);
  });

  it('rule 3: returns the answer to a later send', async () => {
    const stage = new Stage();
    let asks = 0;
    await stage.queue((asked) => ++asks > 1 && asked.reply(`answer ${asks}`));
    expect(text(await stage.settle(stage.client().request('x')))).toBe('answer 2');
  });

  it('rule 5: the next queue answers, and is asked first from then on', async () => {
    const stage = new Stage();
    const queue = await stage.queue(echo, B);
    const client = stage.client({ endpoints: [A, B], timeoutMs: 1000 });
    expect(text(await stage.settle(client.request('x')))).toBe('x');
    const since = stage.network.clock.now();
    expect(text(await stage.settle(client.request('y')))).toBe('y');
    expect(stage.network.clock.now() - since).toBeLessThan(100);
    expect(queue.asked).toHaveLength(2);
  });

  it('rule 3: a crashed queue is asked again when it is back', async () => {
    const stage = new Stage();
    const process = stage.network.transport('queue');
    const first = await ScriptedQueue.start(process, A, silence);
    const call = stage.client().request('y');
    await stage.advance(10);
    expect(first.asked).toHaveLength(1);
    stage.network.crash(process);
    await stage.queue(echo, A, 'queue');
    expect(text(await stage.settle(call))).toBe('y');
  });
});

describe('abort', () => {
  it('rule 7: rejects with the signal’s reason, and the socket is gone at once', async () => {
    const stage = new Stage();
    await stage.queue(silence);
    const client = stage.client();
    const abort = new AbortController();
    const call = stage.settle(client.request('x', { signal: abort.signal }));
    await stage.advance(10);
    expect(client.stats().lanes).toBe(1);
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0, aborts: 1 });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('rule 7: before the call nothing is sent', async () => {
    const stage = new Stage();
    const queue = await stage.queue(echo);
    const signal = AbortSignal.abort('no');
    await expect(stage.settle(stage.client().request('x', { signal }))).rejects.toBe('no');
    await stage.advance(100);
    expect(queue.asked).toEqual([]);
  });
});

it('rule 8: a request that was given up unsent, by abort or by silence, is not kept for a later queue', async () => {
  const stage = new Stage();
  const client = stage.client({ tries: 1, timeoutMs: 100 });
  const abort = new AbortController();
  const aborted = client.request('aborted', { signal: abort.signal }).catch(() => undefined);
  const timedOut = client.request('timed out').catch(() => undefined);
  await stage.advance(90);
  abort.abort('enough');
  await stage.settle(Promise.all([aborted, timedOut]));
  const queue = await stage.queue(echo);
  await stage.advance(5000);
  expect(queue.asked).toEqual([]);
});

describe('life', () => {
  it('close rejects open calls and later ones with CLOSED, and leaves no socket and no timer', async () => {
    const stage = new Stage();
    const queue = await stage.queue(silence);
    const client = stage.client({ sockets: 1 });
    const calls = Promise.allSettled([client.request('1'), client.request('2')]);
    await stage.advance(10);
    await stage.settle(client.close());
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'CLOSED', message: 'request: the client is closed' },
      });
    }
    await expect(client.request('3')).rejects.toMatchObject({ code: 'CLOSED' });
    expect(client[Symbol.asyncDispose]()).toBe(client.close());
    await stage.settle(queue.close());
    await stage.advance(1000);
    expect(stage.network.clock.nextDeadline).toBe(Infinity);
  });

  it('reports resends and dropped messages', async () => {
    const stage = new Stage();
    const queue = await stage.queue((asked) => {
      asked.raw(['garbage']);
      if (queue.asked.length > 1) asked.reply('ok');
    });
    const client = stage.client();
    const notes: LazyPirateNote[] = [];
    const off = client.on('note', (note) => notes.push(note));
    await stage.settle(client.request('x'));
    const { endpoint } = queue;
    const dropped = { code: 'message-dropped', reason: 'reply-malformed', endpoint };
    expect(notes).toEqual([dropped, { code: 'request-resent', cause: 'silence', endpoint, send: 2 }, dropped]);
    off();
    await stage.settle(client.request('x'));
    expect(notes).toHaveLength(3);
  });
});

describe('typed request', () => {
  const sum = defineService({
    name: 'sum',
    request: z.object({ terms: z.array(z.number()) }),
    reply: z.object({ sum: z.number(), unit: z.string().default('none') }),
  });

  it('sends the value, without a service name, and resolves to the value of the reply', async () => {
    const stage = new Stage();
    const queue = await stage.queue((asked) => asked.reply('{"sum":3}'));
    const call = stage.client().request(sum, { terms: [1, 2] }, { timeoutMs: 100 });
    expectTypeOf(call).resolves.toEqualTypeOf<{ sum: number; unit: string }>();
    expect(await stage.settle(call)).toEqual({ sum: 3, unit: 'none' });
    expect(queue.asked.map((asked) => asked.text)).toEqual(['{"terms":[1,2]}']);
  });

  it('refuses a value that the schema refuses, and passes on the worker’s refusal: REJECTED', async () => {
    const stage = new Stage();
    await stage.queue((asked) => asked.reply(...encodeFault({ code: 'REJECTED', message: 'not today' })));
    const client = stage.client();
    await expect(stage.settle(client.request(sum, { terms: ['x'] } as never))).rejects.toMatchObject({
      code: 'REJECTED',
      cause: { origin: 'local' },
    });
    expect(client.stats().calls).toBe(0);
    await expect(stage.settle(client.request(sum, { terms: [] }))).rejects.toMatchObject({
      code: 'REJECTED',
      message: 'not today',
      cause: { origin: 'remote' },
    });
  });

  it('treats a reply that the schema refuses as a fault of the worker', async () => {
    const stage = new Stage();
    await stage.queue(echo);
    await expect(stage.settle(stage.client().request(sum, { terms: [] }))).rejects.toMatchObject({
      code: 'PROTOCOL_REMOTE',
    });
  });
});

describe('invalid calls of a Lazy Pirate', () => {
  it.each<[string, LazyPirateOptions, string]>([
    ['an option of another protocol', { version: '0.2' } as LazyPirateOptions, 'version'],
    ['no endpoint', { endpoints: [] }, 'endpoints'],
    ['a bad endpoint', { endpoints: ['localhost:5556'] }, 'option endpoints.0 = "localhost:5556": '],
    ['no try', { tries: 0 }, 'option tries = 0: '],
    ['messages of one frame', { maxMessageFrames: 1 }, 'option maxMessageFrames = 1: '],
  ])('options: %s', (_, options, message) => {
    const construct = () => new LazyPirateClient(options);
    expect(construct).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error);
    expect(construct).toThrow(message);
  });

  it.each<[string, LazyPirateRequestOptions, string]>([
    ['tries and retries', { tries: 2, retries: 1 }, 'option retries = 1: tries (all sends) and retries'],
    ['a predicate that is none', { matches: '42' as never }, 'option matches = "42": expected a function'],
    ['an unknown option', { failFast: true } as LazyPirateRequestOptions, 'failFast'],
    ['a false signal', { signal: {} as AbortSignal }, 'signal'],
  ])('request options: %s', async (_, options, message) => {
    const call = new Stage().client().request('x', options);
    await expect(call).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(call).rejects.toThrow(message);
  });

  it.each([
    ['no frames', []],
    ['numbers', [1] as never],
    ['nothing', undefined as never],
    ['more frames than the limit', Array.from({ length: 10 }, () => 'x')],
    ['more bytes than the limit', Buffer.alloc(2049)],
  ])('a body of %s: PROTOCOL_LOCAL, and nothing is sent', async (_, body) => {
    const client = new Stage().client({ maxMessageFrames: 10, maxMessageBytes: 2048 });
    await expect(client.request(body)).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
    expect(client.stats().calls).toBe(0);
  });
});
