import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldCalls } from '../../test/held.js';
import { Stage } from '../../test/ppp/stage.js';
import { VirtualWorld } from '../../test/world.js';
import type { PppWorkerRequest } from './options.js';
import { PppWorker } from './worker.js';
import type { PppWorkerEvents } from './worker.js';

const handler = () => 'done';

describe('PppWorker', () => {
  let stage: Stage<VirtualWorld>;
  beforeEach(() => {
    stage = new Stage(new VirtualWorld());
  });
  afterEach(() => stage.end());

  /** Nothing is left of a worker: no socket, no timer. */
  const expectNothingLeft = () => {
    expect(stage.world.transport.openPorts).toBe(0);
    expect(stage.world.transport.armedTimers).toBe(0);
  };

  it('rule 7: has one socket however many queues it knows, and start needs none of them', async () => {
    const worker = stage.worker({ endpoints: [stage.world.endpoint(), stage.world.endpoint()], handler });
    const first = worker.start();
    expect(worker.start()).toBe(first);
    await stage.settle(first);
    expect(stage.world.transport.openPorts).toBe(1);
  });

  it.each(['close', 'drain'] as const)('after %s no socket and no timer is left', async (how) => {
    const queue = await stage.queue();
    const { worker } = await stage.join(queue, { concurrency: 3, handler });
    await stage.settle(Promise.all([worker[how](), worker[how]()]));
    await stage.settle(worker[how]());
    expectNothingLeft();
  });

  it('leaving `await using` closes', async () => {
    const queue = await stage.queue();
    const scope = async () => {
      await using worker = new PppWorker({ transport: stage.world.transport, endpoints: [queue.endpoint], handler });
      await worker.start();
    };
    await stage.settle(scope());
    expectNothingLeft();
  });

  it('rejects a start after the close: CLOSED', async () => {
    const worker = stage.worker({ handler });
    await worker.close();
    await expect(worker.start()).rejects.toMatchObject({ code: 'CLOSED', message: 'PppWorker: it was closed' });
  });

  it('does not start at an endpoint that the transport refuses', async () => {
    const worker = stage.worker({ endpoints: ['tcp://nowhere'], concurrency: 2, handler });
    await expect(stage.settle(worker.start())).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expectNothingLeft();
  });

  it('rule 2: heartbeats reach the queue while the handler works', async () => {
    const queue = await stage.queue();
    const { clock } = stage.world.network;
    const { peer } = await stage.join(queue, {
      heartbeatIntervalMs: 100,
      handler: () =>
        new Promise<string>((resolve) => {
          clock.at(clock.now() + 1000, () => resolve('slow'));
        }),
    });
    queue.request(peer, 'x');
    expect(await stage.settle(queue.reply())).toBe('c1 slow');
    expect(queue.heartbeats).toBe(10);
  });

  it('rules 5 and 7: a queue that falls silent is left for the next one', async () => {
    const [a, b] = [await stage.queue(), await stage.queue()];
    const worker = stage.worker({ endpoints: [a.endpoint, b.endpoint], handler });
    const events: { [Name in keyof PppWorkerEvents]?: PppWorkerEvents[Name][] } = {};
    for (const name of ['ready', 'lost', 'note'] as const)
      worker.on(name, (event) => void ((events[name] ??= []) as (typeof event)[]).push(event));
    const ready = () =>
      new Promise<void>((resolve) => {
        const off = worker.on('ready', () => {
          off();
          resolve();
        });
      });
    let isReady = ready();
    await stage.settle(worker.start());
    await stage.settle(a.ready());
    expect(events.ready).toBeUndefined();
    await stage.settle(isReady);
    isReady = ready();
    stage.world.network.partition('worker', 'p2');
    await stage.settle(b.ready());
    expect(events.ready?.length).toBe(1);
    await stage.settle(isReady);
    expect(events.ready).toEqual([
      { session: 0, endpoint: a.endpoint },
      { session: 0, endpoint: b.endpoint },
    ]);
    expect(events.lost).toEqual([
      { session: 0, endpoint: a.endpoint, reason: 'silent', retryInMs: expect.any(Number) as number },
    ]);
    expect(events.note?.map(({ note }) => note.code)).toEqual(['ready', 'lost', 'ready']);
  });

  it('rule 5: silence aborts the handler, and its result is discarded', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const { peer, worker } = await stage.join(queue, { handler: held.handler });
    queue.request(peer, 'x');
    await stage.settle(held.called(1));
    stage.world.network.partition('worker', 'p2');
    await stage.world.advance(5000);
    expect(held.calls[0]?.context.signal).toMatchObject({ aborted: true, reason: { code: 'PEER_LOST' } });
    held.calls[0]?.reply('late');
    await stage.world.advance(1);
    expect(worker.stats()).toMatchObject({ discarded: 1, replies: 0, failures: 0, lost: { silent: 1 } });
  });

  it('rule 10: jobs that take longer than drainMs are cancelled', async () => {
    const queue = await stage.queue();
    const held = new HeldCalls<PppWorkerRequest>();
    const { peer, worker } = await stage.join(queue, { drainMs: 100, handler: held.handler });
    queue.request(peer, 'x');
    queue.request(peer, 'y');
    await stage.world.advance(10);
    const drained = worker.drain();
    await stage.world.advance(110);
    expect(held.calls[0]?.context.signal.reason).toMatchObject({ code: 'CLOSED' });
    held.calls[0]?.reply('late');
    await stage.settle(drained);
    expect(worker.stats()).toMatchObject({ requests: 1, replies: 0, dropped: { leaving: 1 } });
    expectNothingLeft();
  });

  describe('limits', () => {
    it('the largest reply leaves room for all addresses of its request', async () => {
      const queue = await stage.queue();
      const { peer } = await stage.join(queue, {
        maxMessageFrames: 6,
        maxMessageBytes: 1024,
        handler: ({ body }) => [Buffer.alloc(Number(body)), ''],
        onError: (error) => String(error),
      });
      queue.requestFrom(peer, ['c1', 'h1', 'h2'], '1018');
      expect((await stage.settle(queue.replied())).content.map(({ length }) => length)).toEqual([1018, 0]);
      queue.requestFrom(peer, ['c1', 'h1', 'h2'], '1019');
      expect(await stage.settle(queue.reply())).toBe(
        'c1/h1/h2 ProjError: reply of 2 frames and 1019 bytes: the limits are 2 frames and 1018 bytes',
      );
    });

    it('a request over the limits makes the worker start anew, so that another gets it', async () => {
      const queue = await stage.queue();
      const { peer, worker } = await stage.join(queue, { maxMessageFrames: 3, handler });
      queue.request(peer, '1', '2');
      expect((await stage.settle(queue.ready())).key).not.toBe(peer.key);
      expect(worker.stats()).toMatchObject({ dropped: { 'too-many-frames': 1 }, lost: { unreadable: 1 } });
    });
  });
});
