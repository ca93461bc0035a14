import type { HandlerContext } from '@proj/transport/service';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeldCalls } from '../../test/held.js';
import { Stage } from '../../test/mdp/stage.js';
import { VirtualWorld, ZmqWorld } from '../../test/world.js';
import type { MdpRequest } from './options.js';

describe.each<[string, () => Stage]>([
  ['in memory', () => new Stage(new VirtualWorld())],
  ['over ZeroMQ', () => new Stage(new ZmqWorld())],
])('MdpWorker %s', (_world, makeStage) => {
  let stage: Stage;
  beforeEach(() => {
    stage = makeStage();
  });
  afterEach(() => stage.end());

  /** The replies to one request, up to the last one. */
  async function ask(handler: Parameters<typeof stage.worker<string>>[0]['handler'], ...body: string[]) {
    const broker = await stage.broker();
    const { peer } = await stage.join<string>(broker, { service: 'echo', handler });
    broker.request(peer, ...(body.length === 0 ? [''] : body));
    const replies = [await stage.settle(broker.reply())];
    while (replies.at(-1)?.startsWith('PARTIAL') === true) replies.push(await stage.settle(broker.reply()));
    return replies;
  }

  it('rule 1: start resolves when READY is sent', async () => {
    const broker = await stage.broker();
    const { command } = await stage.join<string>(broker, { service: 'echo', handler: () => '' });
    expect(command).toEqual({ kind: 'worker-ready', version: '0.2', service: 'echo' });
  });

  it('gives the handler the service and the body as Buffers', async () => {
    const seen: MdpRequest[] = [];
    await ask((request) => void seen.push(request), 'a', '', 'b');
    expect(seen).toEqual([{ service: 'echo', body: [Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')] }]);
    expect(seen[0]?.body.every(Buffer.isBuffer)).toBe(true);
  });

  it.each<[string, () => unknown, string]>([
    ['text', () => 'héllo', 'FINAL héllo'],
    ['bytes', () => Uint8Array.of(65, 66), 'FINAL AB'],
    ['frames', () => [Buffer.from('a'), 'b', Uint8Array.of()], 'FINAL a|b|'],
    ['a promise', () => Promise.resolve('later'), 'FINAL later'],
    ['nothing', () => undefined, 'FINAL '],
    ['no frames', () => [], 'FINAL '],
  ])('rule 5: a handler may return %s', async (_what, value, expected) => {
    expect(await ask(value as () => string)).toEqual([expected]);
  });

  it('rule 5: each yield of an async generator is a PARTIAL, its return value is the FINAL', async () => {
    const replies = await ask(
      async function* ({ body }) {
        for (const frame of body) yield [frame, '!'];
        return 'end';
      },
      'a',
      'b',
    );
    expect(replies).toEqual(['PARTIAL a|!', 'PARTIAL b|!', 'FINAL end']);
  });

  it('rule 5: a generator that returns nothing ends with one empty frame', async () => {
    const replies = await ask(async function* () {
      yield 'a';
    });
    expect(replies).toEqual(['PARTIAL a', 'FINAL ']);
  });

  it('rule 5: partial() sends a PARTIAL', async () => {
    const replies = await ask(async (_request, { partial }) => {
      await partial('a');
      await partial(['b', 'c']);
      await partial([]);
      return 'end';
    });
    expect(replies).toEqual(['PARTIAL a', 'PARTIAL b|c', 'PARTIAL ', 'FINAL end']);
  });

  it('rule 5: partial() after the end is refused', async () => {
    let late: HandlerContext['partial'] | undefined;
    await ask((_request, { partial }) => {
      late = partial;
      return 'end';
    });
    await expect(late?.('more')).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
  });

  it('rule 5: under 0.1 the frames of all replies are sent as one', async () => {
    const broker = await stage.broker();
    broker.version = '0.1';
    const { peer, command } = await stage.join<string>(broker, {
      service: 'echo',
      version: '0.1',
      handler: async function* (_request, { partial }) {
        yield 'a';
        await partial(['b', 'c']);
        return ['d'];
      },
    });
    expect(command).toEqual({ kind: 'worker-ready', version: '0.1', service: 'echo' });
    broker.request(peer, '');
    expect(await stage.settle(broker.reply())).toBe('FINAL a|b|c|d');
  });

  it('rule 5: under 0.1 a generator that returns nothing adds no frame', async () => {
    const broker = await stage.broker();
    broker.version = '0.1';
    const { peer } = await stage.join<string>(broker, {
      service: 'echo',
      version: '0.1',
      handler: async function* () {
        yield 'a';
      },
    });
    broker.request(peer, '');
    expect(await stage.settle(broker.reply())).toBe('FINAL a');
  });

  it('serves one request after the other on one connection', async () => {
    const broker = await stage.broker();
    const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler: ({ body }) => body });
    for (let i = 0; i < 100; i++) {
      broker.request(peer, `${i}`);
      expect(await stage.settle(broker.reply())).toBe(`FINAL ${i}`);
    }
    expect(worker.stats()).toMatchObject({ requests: 100, replies: 100, failures: 0, busy: 0, conversations: 1 });
  });

  it('carries 1 MiB, empty and binary frames unchanged', async () => {
    const broker = await stage.broker();
    const { peer } = await stage.join<string>(broker, { service: 'echo', handler: ({ body }) => body });
    const body = [Buffer.alloc(1 << 20, 7), Buffer.alloc(0), Buffer.from([0, 255, 10])];
    broker.request(peer, ...body);
    const { command } = await stage.settle(broker.next('worker-final'));
    expect(command.body.length).toBe(body.length);
    expect(body.every((frame, i) => frame.equals(command.body[i]!))).toBe(true);
  });

  it('rule 11: concurrency is that many connections with their own routing ids', async () => {
    const broker = await stage.broker();
    const held = new HeldCalls<MdpRequest>();
    const { calls, handler } = held;
    const worker = stage.worker({ endpoints: [broker.endpoint], service: 'echo', concurrency: 3, handler });
    await stage.settle(worker.start());
    const peers = [];
    for (let i = 0; i < 3; i++) peers.push((await stage.settle(broker.next('worker-ready'))).peer);
    expect(new Set(peers.map(({ key }) => key)).size).toBe(3);
    for (const [i, peer] of peers.entries()) broker.request(peer, `${i}`);
    await stage.settle(held.called(3));
    expect(worker.stats().busy).toBe(3);
    for (const { request, reply } of calls.toReversed()) reply(`done ${request.body.join()}`);
    const replies = [broker.reply(), broker.reply(), broker.reply()];
    expect((await stage.settle(Promise.all(replies))).sort()).toEqual(['FINAL done 0', 'FINAL done 1', 'FINAL done 2']);
  });

  describe('rule 6: a handler that throws', () => {
    const thrown = new Error('broken');
    const handler = () => {
      throw thrown;
    };

    it('sends no reply but DISCONNECT, and is back with READY', async () => {
      const broker = await stage.broker();
      const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler });
      const errors: unknown[] = [];
      worker.on('error', (event) => errors.push(event));
      broker.request(peer, 'x');
      expect((await stage.settle(broker.next('disconnect'))).peer.key).toBe(peer.key);
      expect((await stage.settle(broker.next('worker-ready'))).peer.key).not.toBe(peer.key);
      expect(errors).toEqual([{ session: 0, error: thrown }]);
      expect(worker.stats()).toMatchObject({ requests: 1, replies: 0, failures: 1, conversations: 1 });
    });

    it('reports to standard error if there is no listener', async () => {
      const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
      const broker = await stage.broker();
      const { peer } = await stage.join<string>(broker, { service: 'echo', handler });
      broker.request(peer, 'x');
      await stage.settle(broker.next('disconnect'));
      expect(said.mock.calls).toEqual([[expect.stringMatching(/^MdpWorker for "echo": .*Error: broken\n +at /)]]);
      said.mockRestore();
    });

    it('is answered by onError if there is one', async () => {
      const broker = await stage.broker();
      const { peer, worker } = await stage.join<string>(broker, {
        service: 'echo',
        handler,
        onError: (error, { service, body }) => [service, ...body, String(error)],
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toBe('FINAL echo|x|Error: broken');
      expect(worker.stats()).toMatchObject({ replies: 1, failures: 1, conversations: 1 });
    });

    it.each<[string, string[], () => string | undefined]>([
      ['says nothing', [], () => undefined],
      [
        'throws itself',
        ['Error: worse'],
        () => {
          throw new Error('worse');
        },
      ],
    ])('gets no reply when onError %s', async (_what, more, onError) => {
      const broker = await stage.broker();
      const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler, onError });
      const errors: unknown[] = [];
      worker.on('error', ({ error }) => errors.push(error));
      broker.request(peer, 'x');
      await stage.settle(broker.next('disconnect'));
      await stage.settle(broker.next('worker-ready'));
      expect(errors.map(String)).toEqual(['Error: broken', ...more]);
    });

    it('under 0.1 what it had yielded is not sent with the reply of onError', async () => {
      const broker = await stage.broker();
      broker.version = '0.1';
      const { peer } = await stage.join<string>(broker, {
        service: 'echo',
        version: '0.1',
        handler: async function* () {
          yield 'a';
          throw thrown;
        },
        onError: String,
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toBe('FINAL Error: broken');
    });

    it('after partial replies is treated the same way', async () => {
      const broker = await stage.broker();
      const { peer } = await stage.join<string>(broker, {
        service: 'echo',
        handler: async function* () {
          yield 'a';
          throw thrown;
        },
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toBe('PARTIAL a');
      await stage.settle(broker.next('disconnect'));
    });
  });

  it('rule 4: DISCONNECT aborts the handler, discards its result, and READY comes on a new connection', async () => {
    const broker = await stage.broker();
    const held = new HeldCalls<MdpRequest>();
    const { calls, handler } = held;
    const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler });
    broker.request(peer, 'x');
    await stage.settle(held.called(1));
    broker.disconnect(peer);
    const again = await stage.settle(broker.next('worker-ready'));
    expect(again.peer.key).not.toBe(peer.key);
    expect(calls[0]?.context.signal).toMatchObject({ aborted: true, reason: { code: 'PEER_LOST' } });
    await expect(calls[0]?.context.partial('late')).rejects.toMatchObject({ code: 'PEER_LOST' });
    calls[0]?.reply('late');
    broker.request(again.peer, 'y');
    await stage.settle(held.called(2));
    calls[1]?.reply('fresh');
    expect(await stage.settle(broker.reply())).toBe('FINAL fresh');
    expect(worker.stats()).toMatchObject({
      discarded: 1,
      lost: { disconnected: 1 },
      partials: 0,
      replies: 1,
      conversations: 2,
    });
  });

  it('rule 10: drain finishes the running job: FINAL, DISCONNECT, closed', async () => {
    const broker = await stage.broker();
    const held = new HeldCalls<MdpRequest>();
    const { calls, handler } = held;
    const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler });
    broker.request(peer, 'x');
    await stage.settle(held.called(1));
    const drained = worker.drain();
    calls[0]?.reply('done');
    expect(await stage.settle(broker.reply())).toBe('FINAL done');
    await stage.settle(broker.next('disconnect'));
    await stage.settle(drained);
    expect(calls[0]?.context.signal.aborted).toBe(false);
  });

  it('close aborts handlers, tells the broker, and waits for them', async () => {
    const broker = await stage.broker();
    const held = new HeldCalls<MdpRequest>();
    const { calls, handler } = held;
    const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler });
    broker.request(peer, 'x');
    await stage.settle(held.called(1));
    let closed = false;
    const closing = worker.close().then(() => (closed = true));
    await stage.settle(broker.next('disconnect'));
    expect(calls[0]?.context.signal).toMatchObject({ aborted: true, reason: { code: 'CLOSED' } });
    expect(closed).toBe(false);
    calls[0]?.reply('late');
    await stage.settle(closing);
  });

  it('a broker that comes back at its endpoint gets READY again', async () => {
    const first = await stage.broker(await stage.world.ownEndpoint());
    const { peer } = await stage.join<string>(first, { service: 'echo', heartbeatIntervalMs: 500, handler: () => '' });
    first.request(peer, 'x');
    await stage.settle(first.reply());
    await stage.settle(first.close());
    const second = await stage.broker(first.endpoint);
    expect((await stage.settle(second.next('worker-ready'))).command.service).toBe('echo');
  });

  it('garbage on the connection is counted and does no harm', async () => {
    const broker = await stage.broker();
    const { peer, worker } = await stage.join<string>(broker, { service: 'echo', handler: ({ body }) => body });
    broker.send(peer, [Buffer.from('garbage')]);
    broker.send(peer, [Buffer.from('MDPC02'), Buffer.of(3), Buffer.from('echo'), Buffer.from('x')]);
    broker.send(peer, [Buffer.from('MDPW02'), Buffer.of(9)]);
    broker.request(peer, 'still here');
    expect(await stage.settle(broker.reply())).toBe('FINAL still here');
    expect(worker.stats().dropped).toEqual({ 'unknown-header': 1, 'wrong-direction': 1, 'unknown-command': 1 });
  });
});
