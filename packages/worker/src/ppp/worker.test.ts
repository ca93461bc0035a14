import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldCalls } from '../../test/held.js';
import { Stage } from '../../test/ppp/stage.js';
import { VirtualWorld, ZmqWorld } from '../../test/world.js';
import type { WorkerWorld } from '../../test/world.js';
import type { PppHandler, PppWorkerRequest } from './options.js';

describe.each<[string, () => WorkerWorld]>([
  ['in memory', () => new VirtualWorld()],
  ['over ZeroMQ', () => new ZmqWorld()],
])('PppWorker %s', (_world, makeWorld) => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage(makeWorld());
  });
  afterEach(() => stage.end());

  /** The reply to one request of requester `c1`. */
  async function ask(handler: PppHandler, ...content: string[]) {
    const queue = await stage.queue();
    const { peer } = await stage.join(queue, { handler });
    queue.request(peer, ...(content.length === 0 ? [''] : content));
    return stage.settle(queue.reply());
  }

  it('gives the handler the content as Buffers', async () => {
    const seen: PppWorkerRequest[] = [];
    await ask((request) => void seen.push(request), 'a', '', 'b');
    expect(seen).toEqual([{ body: [Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')] }]);
    expect(seen[0]?.body.every(Buffer.isBuffer)).toBe(true);
  });

  it.each<[string, () => unknown, string]>([
    ['text', () => 'héllo', 'c1 héllo'],
    ['bytes', () => Uint8Array.of(65, 66), 'c1 AB'],
    ['frames', () => [Buffer.from('a'), 'b', Uint8Array.of()], 'c1 a|b|'],
    ['a promise', () => Promise.resolve('later'), 'c1 later'],
    ['nothing, which is one empty frame', () => undefined, 'c1 '],
    ['no frames, which is one empty frame', () => [], 'c1 '],
  ])('rule 3: accepts from a handler %s', async (_what, value, expected) => {
    expect(await ask(value as () => string)).toBe(expected);
  });

  it('joins what a generator yields and partial() sends into the one reply', async () => {
    const reply = await ask(
      async function* ({ body }, { partial }) {
        for (const frame of body) yield [frame, '!'];
        await partial('?');
        return 'end';
      },
      'a',
      'b',
    );
    expect(reply).toBe('c1 a|!|b|!|?|end');
  });

  it('rule 4: returns a stack of any depth, whatever its bytes', async () => {
    const queue = await stage.queue();
    const { peer } = await stage.join(queue, { handler: ({ body }) => body });
    const addresses = [
      Uint8Array.of(0, 0x6b, 0x8b, 0x45, 0x67),
      Buffer.alloc(255, 0xff),
      ...Array<string>(20).fill('hop'),
    ];
    queue.requestFrom(peer, addresses, 'x');
    const reply = await stage.settle(queue.replied());
    expect(reply.addresses?.map((address) => Buffer.from(address))).toEqual(
      addresses.map((address) => Buffer.from(address as string)),
    );
  });

  it('rule 4: carries 1 MiB, empty and binary frames unchanged', async () => {
    const queue = await stage.queue();
    const { peer } = await stage.join(queue, { handler: ({ body }) => body });
    const body = [Buffer.alloc(1 << 20, 7), Buffer.alloc(0), Buffer.from([0, 255, 10])];
    queue.request(peer, ...body);
    const { content } = await stage.settle(queue.replied());
    expect(content.length).toBe(body.length);
    expect(body.every((frame, i) => frame.equals(content[i]!))).toBe(true);
  });

  it('serves one request after the other on one connection', async () => {
    const queue = await stage.queue();
    const { peer, worker } = await stage.join(queue, { handler: ({ body }) => body });
    for (let i = 0; i < 100; i++) {
      queue.request(peer, `${i}`);
      expect(await stage.settle(queue.reply())).toBe(`c1 ${i}`);
    }
    expect(worker.stats()).toMatchObject({ requests: 100, replies: 100, failures: 0, busy: 0, conversations: 1 });
  });

  it('has as many connections as its concurrency says, each with its own job', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const worker = stage.worker({ endpoints: [queue.endpoint], concurrency: 3, handler: held.handler });
    await stage.settle(worker.start());
    const peers = [];
    for (let i = 0; i < 3; i++) peers.push(await stage.settle(queue.ready()));
    expect(new Set(peers.map(({ key }) => key)).size).toBe(3);
    for (const [i, peer] of peers.entries()) queue.request(peer, `${i}`);
    await stage.settle(held.called(3));
    expect(worker.stats().busy).toBe(3);
    for (const { request, reply } of held.calls.toReversed()) reply(`done ${request.body.join()}`);
    const replies = [queue.reply(), queue.reply(), queue.reply()];
    expect((await stage.settle(Promise.all(replies))).sort()).toEqual(['c1 done 0', 'c1 done 1', 'c1 done 2']);
  });

  describe('a handler that throws', () => {
    const thrown = new Error('broken');
    const handler = () => {
      throw thrown;
    };

    it('rule 8: sends no reply but READY, and continues', async () => {
      const queue = await stage.queue();
      const errors: unknown[] = [];
      let calls = 0;
      const { peer, worker } = await stage.join(queue, {
        handler: ({ body }) => {
          if (calls++ === 0) throw thrown;
          return body;
        },
      });
      worker.on('error', (event) => errors.push(event));
      queue.request(peer, 'x');
      const again = await stage.settle(queue.take());
      expect([again.command.kind, again.peer.key]).toEqual(['ready', peer.key]);
      queue.request(peer, 'y');
      expect(await stage.settle(queue.reply())).toBe('c1 y');
      expect(errors).toEqual([{ session: 0, error: thrown }]);
      expect(worker.stats()).toMatchObject({ requests: 2, replies: 1, failures: 1, conversations: 2, lost: {} });
    });

    it('rule 8: is answered by onError if there is one', async () => {
      const queue = await stage.queue();
      const { peer, worker } = await stage.join(queue, {
        handler,
        onError: (error, { body }) => [...body, String(error)],
      });
      queue.request(peer, 'x');
      expect(await stage.settle(queue.reply())).toBe('c1 x|Error: broken');
      expect(worker.stats()).toMatchObject({ replies: 1, failures: 1, conversations: 1 });
    });

    it.each<[string, () => string | undefined]>([
      ['says nothing', () => undefined],
      [
        'throws itself',
        () => {
          throw new Error('worse');
        },
      ],
    ])('rule 8: sends no reply when onError %s', async (_what, onError) => {
      const queue = await stage.queue();
      const { peer } = await stage.join(queue, { handler, onError });
      queue.request(peer, 'x');
      expect((await stage.settle(queue.take())).command.kind).toBe('ready');
    });

    it('rule 8: what it had yielded is not sent with the reply of onError', async () => {
      const queue = await stage.queue();
      const { peer } = await stage.join(queue, {
        handler: async function* () {
          yield 'a';
          throw thrown;
        },
        onError: String,
      });
      queue.request(peer, 'x');
      expect(await stage.settle(queue.reply())).toBe('c1 Error: broken');
    });
  });

  it('rule 9: requests of a hasty queue are answered in order', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const { peer, worker } = await stage.join(queue, { handler: held.handler });
    for (let i = 0; i < 18; i++) queue.requestFrom(peer, [`c${i}`], `${i}`);
    await stage.heard(queue, peer, worker);
    for (let i = 0; i < 17; i++) {
      await stage.settle(held.called(i + 1));
      held.calls[i]?.reply(`r${i}`);
      expect(await stage.settle(queue.reply())).toBe(`c${i} r${i}`);
    }
    expect(worker.stats()).toMatchObject({ requests: 17, dropped: { busy: 1 } });
  });

  it('rule 10: drain answers the running job and the waiting one, and closes', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const { peer, worker } = await stage.join(queue, { handler: held.handler });
    queue.request(peer, 'x');
    queue.request(peer, 'y');
    await stage.heard(queue, peer, worker);
    const drained = worker.drain();
    for (const n of [0, 1]) {
      await stage.settle(held.called(n + 1));
      held.calls[n]?.reply(`done ${n}`);
      expect(await stage.settle(queue.reply())).toBe(`c1 done ${n}`);
    }
    await stage.settle(drained);
    expect(held.calls.some(({ context }) => context.signal.aborted)).toBe(false);
  });

  it('close aborts handlers and waits for them', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const { peer, worker } = await stage.join(queue, { handler: held.handler });
    queue.request(peer, 'x');
    await stage.settle(held.called(1));
    let closed = false;
    const closing = worker.close().then(() => (closed = true));
    expect(held.calls[0]?.context.signal).toMatchObject({ aborted: true, reason: { code: 'CLOSED' } });
    expect(closed).toBe(false);
    held.calls[0]?.reply('late');
    await stage.settle(closing);
  });

  it('rule 5: a queue that comes back at its endpoint gets READY again, on a new connection', async () => {
    const first = await stage.queue(await stage.world.ownEndpoint());
    const { peer } = await stage.join(first, { heartbeatIntervalMs: 500, reconnectMinMs: 50, handler: () => '' });
    first.request(peer, 'x');
    await stage.settle(first.reply());
    await stage.settle(first.close());
    const second = await stage.queue(first.endpoint);
    expect((await stage.settle(second.ready())).key).not.toBe(peer.key);
  });

  it.each<[string, Uint8Array[], string]>([
    ['READY, which only workers send', [Buffer.of(1)], 'control-unexpected'],
    ['an empty control frame', [Buffer.alloc(0)], 'control-empty'],
    ['a request without content', [Buffer.from('c1'), Buffer.alloc(0)], 'request-malformed'],
  ])('bad input: %s is counted and does no harm', async (_what, frames, reason) => {
    const queue = await stage.queue();
    const { peer, worker } = await stage.join(queue, { handler: ({ body }) => body });
    queue.send(peer, frames);
    queue.request(peer, 'still here');
    expect(await stage.settle(queue.reply())).toBe('c1 still here');
    expect(worker.stats()).toMatchObject({ dropped: { [reason]: 1 }, lost: {} });
  });
});
