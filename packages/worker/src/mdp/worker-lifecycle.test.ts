import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../../test/mdp/stage.js';
import { VirtualWorld } from '../../test/world.js';
import { MdpWorker } from './worker.js';
import type { MdpWorkerEvents } from './worker.js';

const handler = () => 'done';

describe('MdpWorker', () => {
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

  it('construction does nothing: a worker that was never started needs no close', () => {
    stage.worker({ service: 'echo', handler });
    expectNothingLeft();
  });

  it('start resolves without a broker and may be repeated', async () => {
    const worker = stage.worker({ endpoints: [stage.world.endpoint()], service: 'echo', concurrency: 2, handler });
    const first = worker.start();
    expect(worker.start()).toBe(first);
    await stage.settle(first);
    expect(stage.world.transport.openPorts).toBe(2);
  });

  it.each(['close', 'drain'] as const)('%s leaves no socket and no timer, and may be repeated', async (how) => {
    const broker = await stage.broker();
    const { worker } = await stage.join<string>(broker, { service: 'echo', concurrency: 3, handler });
    await stage.settle(Promise.all([worker[how](), worker[how]()]));
    await stage.settle(worker[how]());
    expectNothingLeft();
  });

  it('close without a broker takes no longer than the linger', async () => {
    const worker = stage.worker({ endpoints: [stage.world.endpoint()], service: 'echo', handler });
    await stage.settle(worker.start());
    const before = stage.world.network.clock.now();
    await stage.settle(worker.close());
    expect(stage.world.network.clock.now() - before).toBeLessThanOrEqual(1000);
    expectNothingLeft();
  });

  it('await using closes', async () => {
    const broker = await stage.broker();
    let worker: MdpWorker | undefined;
    const scope = async () => {
      await using mine = new MdpWorker({
        transport: stage.world.transport,
        endpoints: [broker.endpoint],
        service: 'echo',
        handler,
      });
      worker = mine;
      await mine.start();
    };
    await stage.settle(scope());
    expectNothingLeft();
    await expect(worker?.start()).resolves.toBeUndefined();
  });

  it.each(['close', 'drain'] as const)('start after %s rejects with CLOSED', async (how) => {
    const worker = stage.worker({ service: 'echo', handler });
    await worker[how]();
    await expect(worker.start()).rejects.toMatchObject({ code: 'CLOSED' });
    expectNothingLeft();
  });

  it('close while start is loading makes start reject with CLOSED', async () => {
    const worker = stage.worker({ service: 'echo', handler });
    const started = worker.start();
    const closed = worker.close();
    await expect(started).rejects.toMatchObject({ code: 'CLOSED' });
    await closed;
    expectNothingLeft();
  });

  it('start rejects when the transport cannot be loaded', async () => {
    const failure = new Error('no addon');
    stage.world.transport.load = () => Promise.reject(failure);
    const worker = stage.worker({ service: 'echo', handler });
    await expect(worker.start()).rejects.toBe(failure);
  });

  it('start rejects for an endpoint that the transport refuses, and leaves nothing open', async () => {
    const worker = stage.worker({ endpoints: ['tcp://nowhere'], service: 'echo', concurrency: 2, handler });
    await expect(stage.settle(worker.start())).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expectNothingLeft();
  });

  it('an endpoint further down the list that the transport refuses is an error event, and the next one is tried', async () => {
    const broker = await stage.broker();
    const worker = stage.worker({
      endpoints: [broker.endpoint, 'tcp://nowhere'],
      service: 'echo',
      handler,
    });
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    await stage.settle(worker.start());
    broker.disconnect((await stage.settle(broker.next('worker-ready'))).peer);
    await stage.settle(broker.next('worker-ready'));
    expect(errors).toEqual([expect.objectContaining({ code: 'OPTIONS_INVALID' })]);
    expect(worker.stats().lost).toEqual({ disconnected: 1, 'socket-failed': 1 });
  });

  it('rule 3 and 8: a broker that falls silent is left for the next one', async () => {
    const [a, b] = [await stage.broker(), await stage.broker()];
    const endpoints = [a.endpoint, b.endpoint];
    // Sooner than the network reports it.
    const worker = stage.worker({ endpoints, service: 'echo', heartbeatIntervalMs: 500, handler });
    const events: { [Name in keyof MdpWorkerEvents]?: MdpWorkerEvents[Name][] } = {};
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
    await stage.settle(a.next('worker-ready'));
    expect(events.ready).toBeUndefined();
    await stage.settle(isReady);
    isReady = ready();
    stage.world.network.partition('worker', 'p2');
    await stage.settle(b.next('worker-ready'));
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

  it('a removed listener gets nothing', async () => {
    const worker = stage.worker({ endpoints: [stage.world.endpoint()], service: 'echo', handler });
    const heard: unknown[] = [];
    worker.on('ready', (event) => heard.push(event))();
    await stage.settle(worker.start());
    expect(heard).toEqual([]);
  });

  it('rule 2: heartbeats are sent while the handler works', async () => {
    const broker = await stage.broker();
    const options = {
      service: 'echo',
      heartbeatIntervalMs: 100,
      handler: () =>
        new Promise<string>((resolve) => {
          stage.world.network.clock.at(stage.world.network.clock.now() + 1000, () => resolve('slow'));
        }),
    };
    const { peer } = await stage.join<string>(broker, options);
    broker.request(peer, 'x');
    expect(await stage.settle(broker.reply())).toBe('FINAL slow');
    expect(broker.heartbeats).toBe(10);
  });

  it('rule 10: a job longer than drainMs is cancelled', async () => {
    const broker = await stage.broker();
    let signal: AbortSignal | undefined;
    const { peer, worker } = await stage.join<string>(broker, {
      service: 'echo',
      drainMs: 100,
      handler: (_request, context) =>
        new Promise<string>((_resolve, reject) => {
          signal = context.signal;
          signal.addEventListener('abort', () => {
            reject(signal?.reason as Error);
          });
        }),
    });
    broker.request(peer, 'x');
    await stage.world.advance(10);
    await stage.settle(worker.drain());
    expect(signal?.reason).toMatchObject({ code: 'CLOSED' });
    expect(worker.stats()).toMatchObject({ failures: 0, replies: 0 });
    expectNothingLeft();
  });

  it('close during a drain cancels what the drain waits for', async () => {
    const broker = await stage.broker();
    const { peer, worker } = await stage.join<string>(broker, {
      service: 'echo',
      handler: (_request, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve('too late');
          });
        }),
    });
    broker.request(peer, 'x');
    await stage.world.advance(10);
    const drained = worker.drain();
    const before = stage.world.network.clock.now();
    await stage.settle(Promise.all([worker.close(), drained]));
    expect(stage.world.network.clock.now() - before).toBeLessThan(100);
    expect(worker.stats()).toMatchObject({ replies: 0, busy: 0 });
    expectNothingLeft();
  });

  it('the signal is already aborted for a handler that asks late', async () => {
    const broker = await stage.broker();
    let ask: (() => AbortSignal) | undefined;
    const { peer, worker } = await stage.join<string>(broker, {
      service: 'echo',
      handler: (_request, context) =>
        new Promise<string>((resolve) => {
          ask = () => context.signal;
          stage.world.network.clock.at(stage.world.network.clock.now() + 500, () => resolve(''));
        }),
    });
    broker.request(peer, 'x');
    await stage.world.advance(10);
    const closed = worker.close();
    await stage.world.advance(10);
    expect(ask?.().aborted).toBe(true);
    await stage.settle(closed);
  });

  describe('limits', () => {
    it('a reply that the broker would drop counts as a failure of the handler', async () => {
      const broker = await stage.broker();
      const { peer, worker } = await stage.join<string>(broker, {
        service: 'echo',
        maxMessageFrames: 10,
        handler: () => ['1', '2', '3', '4', '5', '6'],
        onError: (error) => String(error),
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toMatch(
        /^FINAL ProjError: reply of 6 frames .* the limits are 5 frames/,
      );
      expect(worker.stats()).toMatchObject({ failures: 1, replies: 1 });
    });

    it('so does one of onError, and then there is no reply', async () => {
      const broker = await stage.broker();
      const { peer } = await stage.join<string>(broker, {
        service: 'echo',
        maxMessageFrames: 10,
        handler: () => 7 as never,
        onError: () => ['1', '2', '3', '4', '5', '6'],
      });
      broker.request(peer, 'x');
      await stage.settle(broker.next('disconnect'));
    });

    it('the largest reply that fits is accepted', async () => {
      const broker = await stage.broker();
      const { peer } = await stage.join<string>(broker, {
        service: 'echo',
        maxMessageFrames: 10,
        maxMessageBytes: 1262,
        handler: () => ['x'.repeat(996), '2', '3', '4', '5'],
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toMatch(/^FINAL x+\|2\|3\|4\|5$/);
    });

    it('under 0.1 a partial reply without a request is refused, too', async () => {
      const broker = await stage.broker();
      broker.version = '0.1';
      let thrown: unknown;
      const { peer, worker } = await stage.join<string>(broker, {
        service: 'echo',
        version: '0.1',
        handler: async (_request, { signal, partial }) => {
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          thrown = await partial('late').catch((error: unknown) => error);
        },
      });
      broker.request(peer, 'x');
      await stage.world.advance(10);
      await stage.settle(worker.close());
      expect(thrown).toMatchObject({ code: 'CLOSED' });
    });

    it('under 0.1 the kept partial replies count', async () => {
      const broker = await stage.broker();
      broker.version = '0.1';
      const { peer } = await stage.join<string>(broker, {
        service: 'echo',
        version: '0.1',
        maxMessageBytes: 1262,
        handler: async function* () {
          while (true) yield 'x'.repeat(330);
        },
        onError: (error) => String(error),
      });
      broker.request(peer, 'x');
      expect(await stage.settle(broker.reply())).toMatch(/^FINAL ProjError: reply of 4 frames and 1320 bytes/);
    });

    it('a request over the limits is returned to the broker with DISCONNECT', async () => {
      const broker = await stage.broker();
      const { peer, worker } = await stage.join<string>(broker, { service: 'echo', maxMessageFrames: 6, handler });
      broker.request(peer, '1', '2', '3');
      await stage.settle(broker.next('disconnect'));
      await stage.settle(broker.next('worker-ready'));
      expect(worker.stats()).toMatchObject({ dropped: { 'too-many-frames': 1 }, lost: { unreadable: 1 } });
    });
  });
});
