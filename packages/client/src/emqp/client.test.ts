import { getEventListeners } from 'node:events';
import { latin1 } from '@proj/frames';
import { loadVectors } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { silence, Stage } from '../../test/emqp/stage.js';
import { A, B } from '../../test/world.js';
import { EmqpClient } from './client.js';
import type { EmqpJob, EmqpScheduleOptions } from './options.js';

const ADD: EmqpJob = { path: 'myjobs', callable: 'add', args: [2, 3] };
const NOOP: EmqpJob = { path: 'myjobs', callable: 'noop' };
const ignore = (): void => {};

/** What EventMQ's own client sent: the frames behind the id. */
const recorded = (name: string) =>
  loadVectors('emqp')
    .find((vector) => vector.name === name)!
    .frames.slice(4)
    .map(latin1);

describe('a job', () => {
  it.each([
    ['request-plain', NOOP, {}],
    ['request-guarantee', NOOP, { guarantee: true }],
    ['request-reply-requested', ADD, { replyRequested: true }],
    ['request-timeout', { path: 'myjobs', callable: 'slow', args: [5] }, { replyRequested: true, timeoutSeconds: 1 }],
    [
      'request-all-headers',
      { ...ADD, args: [1], kwargs: { b: 4 } },
      { replyRequested: true, guarantee: true, retryCount: 2, timeoutSeconds: 10 },
    ],
    [
      'request-bound-method',
      {
        path: 'myjobs:Greeter',
        callable: 'hi',
        kwargs: { greeting: 'yo' },
        classArgs: ['Bob'],
        classKwargs: { punct: '?' },
      },
      { replyRequested: true },
    ],
  ] as const)('is requested as by EventMQ’s own client: %s', async (name, job, options) => {
    const stage = new Stage();
    const broker = await stage.broker();
    await stage.settle(stage.client().defer('default', job as EmqpJob, options));
    expect(broker.asked[0]!.texts).toEqual(recorded(name));
  });

  it.each([
    ['schedule-interval', [1, 2], 'add', { intervalSeconds: 2 }],
    ['schedule-nohaste', [], 'noop', { intervalSeconds: 3, haste: false, guarantee: false }],
    ['schedule-run-count', [7, 7], 'add', { intervalSeconds: 1, runCount: 3 }],
    ['schedule-cron', [9, 9], 'add', { cron: '* * * * *', haste: false, guarantee: false }],
  ] as const)('is scheduled as by EventMQ’s own client: %s', async (name, args, callable, options) => {
    const stage = new Stage();
    const broker = await stage.broker();
    const queue = recorded(name)[0]!;
    await stage.settle(stage.client().schedule(queue, { path: 'myjobs', callable, args: [...args] }, options));
    await stage.settle(broker.received(1));
    expect(broker.asked[0]!.command.kind).toBe('schedule');
    expect(broker.asked[0]!.texts).toEqual(recorded(name));
  });

  it('is unscheduled as by EventMQ’s own client', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    await stage.settle(stage.client().unschedule('default', { ...ADD, args: [1, 2] }));
    await stage.settle(broker.received(1));
    expect(broker.asked[0]!.command.kind).toBe('unschedule');
    expect(broker.asked[0]!.texts).toEqual(recorded('unschedule'));
  });

  it('may be bytes or text, which are sent unchanged', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const client = stage.client();
    await stage.settle(client.defer('q', new Uint8Array([0, 255])));
    await stage.settle(client.defer('q', 'x'));
    expect(broker.asked.map(({ texts }) => texts)).toEqual([
      ['q', '', '\0\xff'],
      ['q', '', 'x'],
    ]);
  });

  it('has the values that JSON.stringify would send', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const args = [new Date(0), undefined, Number.NaN, 'é'];
    await stage.settle(stage.client().defer('q', { ...NOOP, args }));
    expect(broker.asked[0]!.texts[2]).toContain('"args": ["1970-01-01T00:00:00.000Z", null, null, "\\u00e9"]');
  });

  it.each([
    ['no queue', '', NOOP, 'OPTIONS_INVALID'],
    ['a queue of 256 bytes', 'é'.repeat(128), NOOP, 'OPTIONS_INVALID'],
    ['a queue that UTF-8 cannot express', '\ud800', NOOP, 'OPTIONS_INVALID'],
    ['no callable', 'q', { path: 'x', callable: '' }, 'OPTIONS_INVALID'],
    ['arguments without JSON', 'q', { ...NOOP, args: [1n] }, 'PROTOCOL_LOCAL'],
    ['more bytes than maxMessageBytes', 'q', 'x'.repeat(1025), 'PROTOCOL_LOCAL'],
  ])('is refused before sending: %s', async (_, queue, job, code) => {
    const stage = new Stage();
    const client = stage.client({ maxMessageBytes: 2048 });
    await expect(stage.settle(client.defer(queue, job))).rejects.toMatchObject({ code });
    expect(client.stats().connections).toBe(0);
  });

  it.each([
    ['neither interval nor cron', NOOP, {}, 'OPTIONS_INVALID'],
    ['both', NOOP, { intervalSeconds: 1, cron: '* * * * *' }, 'OPTIONS_INVALID'],
    ['six fields', NOOP, { cron: '* * * * * *' }, 'OPTIONS_INVALID'],
    ['an interval of 0', NOOP, { intervalSeconds: 0 }, 'OPTIONS_INVALID'],
    ['bytes that do not name a job', '[]', { intervalSeconds: 1 }, 'PROTOCOL_LOCAL'],
  ] as [string, EmqpJob | string, EmqpScheduleOptions, string][])(
    'is not scheduled with %s: no broker would say why',
    async (_, job, options, code) => {
      const stage = new Stage();
      await expect(stage.settle(stage.client().schedule('q', job, options))).rejects.toMatchObject({ code });
    },
  );
});

describe('defer', () => {
  it('resolves on the acceptance, with the id of the request', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const deferred = await stage.settle(stage.client().defer('default', NOOP));
    expect(deferred).toEqual({ id: broker.asked[0]!.command.id, result: undefined });
    expect(deferred.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('has a routing id in ASCII: others crash EventMQ’s own router', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    await stage.settle(stage.client().defer('default', NOOP));
    expect(broker.asked[0]!.peer.key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gives each result to its request, in any order', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const client = stage.client();
    const deferred = await stage.settle(
      Promise.all([1, 2, 3].map((n) => client.defer('q', { ...NOOP, args: [n] }, { replyRequested: true }))),
    );
    expect(client.stats()).toMatchObject({ untaken: 0, awaitingResult: 3, taken: 3 });
    broker.asked[2]!.result('{"value": null}');
    broker.asked[0]!.result('{"value": {"a": [1]}}');
    broker.asked[1]!.result('{"value": "TimeoutError"}');
    const results = await stage.settle(Promise.all(deferred.map(({ result }) => result)));
    expect(results).toEqual([{ a: [1] }, 'TimeoutError', null]);
    expect(client.stats()).toMatchObject({ awaitingResult: 0, results: 3 });
  });

  it('accepts a result instead of an acceptance, too', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.result('{"value": 7}'));
    const { result } = await stage.settle(stage.client().defer('q', NOOP, { replyRequested: true }));
    await expect(result).resolves.toBe(7);
  });

  it.each(['', 'no JSON', '7', 'null', '{}'])('refuses the result %j', async (json) => {
    const stage = new Stage();
    await stage.broker((asked) => asked.result(json));
    const { result } = await stage.settle(stage.client().defer('q', NOOP, { replyRequested: true }));
    await expect(result).rejects.toMatchObject({
      code: 'PROTOCOL_REMOTE',
      message: 'job for queue "q": the result is not {"value": ...}; see details.result',
      details: { result: Buffer.from(json) },
    });
  });

  it('gives up after timeoutMs, sends once, and an unsent message is not sent later', async () => {
    const stage = new Stage();
    const client = stage.client({ timeoutMs: 3000 });
    await expect(stage.settle(client.defer('q', NOOP))).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(stage.network.clock.now()).toBe(3000);
    const broker = await stage.broker();
    await stage.advance(60_000);
    expect(broker.asked).toEqual([]);
    await stage.settle(client.defer('q', NOOP));
    expect(broker.asked.length).toBe(1);
  });

  it('goes to the next endpoint after a silent one', async () => {
    const stage = new Stage();
    const broker = await stage.broker(undefined, B);
    const client = stage.client({ endpoints: [A, B] });
    await expect(stage.settle(client.defer('q', NOOP))).rejects.toMatchObject({ code: 'TIMEOUT' });
    await stage.settle(client.defer('q', NOOP));
    expect(broker.asked.length).toBe(1);
  });

  it('ends with the connection, accepted or not', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      if (asked.command.queue === 'taken') asked.accept();
    });
    const client = stage.client();
    const taken = await stage.settle(client.defer('taken', NOOP, { replyRequested: true }));
    const open = client.defer('open', NOOP);
    open.catch(ignore);
    await stage.settle(broker.received(2));
    await broker.close();
    await expect(stage.settle(open)).rejects.toMatchObject({ code: 'PEER_LOST' });
    await expect(stage.settle(taken.result)).rejects.toMatchObject({ code: 'PEER_LOST' });
    await stage.broker(undefined, A, 'restarted');
    await stage.settle(client.defer('again', NOOP));
    expect(client.stats()).toMatchObject({ connections: 2, failures: { PEER_LOST: 2 } });
  });

  it('ends with the caller’s signal, before the acceptance', async () => {
    const stage = new Stage();
    const broker = await stage.broker(silence);
    const client = stage.client();
    const abort = new AbortController();
    const open = client.defer('q', NOOP, { signal: abort.signal });
    open.catch(ignore);
    await stage.settle(broker.received(1));
    abort.abort('enough');
    await expect(open).rejects.toBe('enough');
    await expect(client.defer('q', NOOP, { signal: abort.signal })).rejects.toBe('enough');
    expect(client.stats()).toMatchObject({ aborts: 1, untaken: 0 });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('ends with the caller’s signal, before the result', async () => {
    const stage = new Stage();
    await stage.broker();
    const client = stage.client();
    const abort = new AbortController();
    const { result } = await stage.settle(client.defer('q', NOOP, { replyRequested: true, signal: abort.signal }));
    abort.abort('enough');
    await expect(result).rejects.toBe('enough');
    expect(client.stats()).toMatchObject({ aborts: 1, awaitingResult: 0 });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('may have a result that is not awaited', async () => {
    const stage = new Stage();
    await stage.broker();
    const client = stage.client({ resultTimeoutMs: 1000 });
    await stage.settle(client.defer('q', NOOP, { replyRequested: true }));
    // An unhandled rejection would fail the run.
    await stage.advance(1000);
    expect(client.stats()).toMatchObject({ awaitingResult: 0, failures: { TIMEOUT: 1 } });
  });

  it('is bounded', async () => {
    const stage = new Stage();
    await stage.broker();
    const client = stage.client({ openMax: 2 });
    const calls = await stage.settle(Promise.allSettled([1, 2, 3].map(() => client.defer('q', NOOP))));
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await stage.settle(Promise.all([client.defer('q', NOOP), client.defer('q', NOOP)]));
  });

  it('says why no socket can be opened', async () => {
    const stage = new Stage();
    const client = stage.client({ endpoints: ['tcp://nowhere'] });
    await expect(stage.settle(client.defer('q', NOOP))).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('survives messages that are not answers', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.raw('');
      asked.raw('', 'eMQP/2.0', 'REPLY', 'x', 'y');
      asked.raw('', 'eMQP/1.0', 'HEARTBEAT', 'x', '1');
      asked.raw('', 'eMQP/1.0', 'REPLY', 'x', 'nobody');
      asked.accept();
      asked.accept();
    });
    const client = stage.client();
    const notes: string[] = [];
    client.on('note', ({ code }) => notes.push(code));
    await stage.settle(client.defer('q', NOOP));
    await stage.advance(100);
    expect(client.stats()).toMatchObject({
      lateReplies: 2,
      dropped: { 'too-few-frames': 1, version: 1, 'wrong-direction': 1 },
    });
    expect(notes).toEqual(['message-dropped', 'message-dropped', 'message-dropped']);
  });
});

describe('close', () => {
  it('rejects what is open and what comes later, and leaves nothing behind', async () => {
    const stage = new Stage();
    const broker = await stage.broker(silence);
    const client = stage.client({ lingerMs: 0 });
    const open = client.defer('q', NOOP);
    open.catch(ignore);
    await stage.settle(broker.received(1));
    await stage.settle(client.close());
    await expect(open).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(client.defer('q', NOOP)).rejects.toMatchObject({ code: 'CLOSED' });
    await stage.settle(broker.close());
    expect(stage.network.clock.armed).toBe(0);
  });

  it('before anything is loaded rejects, too', async () => {
    const stage = new Stage();
    const client = stage.client();
    const open = client.defer('q', NOOP);
    open.catch(ignore);
    await stage.settle(client.close());
    await expect(open).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('sends a pending schedule', async () => {
    const stage = new Stage();
    const broker = await stage.broker();
    const client = stage.client();
    await stage.settle(client.schedule('q', NOOP, { intervalSeconds: 1 }));
    await stage.settle(client.close());
    await stage.settle(broker.received(1));
    expect(broker.asked[0]!.command.kind).toBe('schedule');
  });
});

it('refuses unknown options', () => {
  expect(() => new EmqpClient({ nope: 1 } as object)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});
