import { ManualClock } from '@proj/heartbeat';
import type { PortListener, SocketPort, Transport } from '@proj/transport';
import { ROUTER_PEER } from '@proj/transport';
import { macrotask } from '../test/turn.js';
import { describe, expect, it } from 'vitest';
import { MdpWorker } from './mdp/worker.js';
import type { MdpWorkerOptions } from './mdp/options.js';

const REQUEST = ['MDPW02', '\x02', 'client', '', 'body'].map((text) => Buffer.from(text));

/** One dealer whose outbox and failures the test controls. */
class Bench {
  readonly clock = new ManualClock();
  readonly listeners: PortListener[] = [];
  readonly sent: string[] = [];
  readonly closed: (number | undefined)[] = [];
  /** What waits in each dealer, the last one opened last. */
  readonly pending: number[] = [];

  get listener(): PortListener {
    return this.listeners.at(-1)!;
  }

  async start(options: Partial<MdpWorkerOptions>): Promise<MdpWorker> {
    const transport: Transport = {
      clock: this.clock,
      entropy: { wallMicros: () => 0, uuid: () => '', random: () => 0.5 },
      load: () => Promise.resolve(),
      router: () => {
        throw new Error('not for workers');
      },
      dealer: () => this.#dealer(),
      publisher: () => expect.unreachable(),
      subscriber: () => expect.unreachable(),
    };
    const worker = new MdpWorker({ service: 'echo', handler: () => 'x', transport, ...options });
    await worker.start();
    return worker;
  }

  request(): void {
    this.listener.onMessage(ROUTER_PEER, REQUEST);
  }

  #dealer(): SocketPort {
    const { pending } = this;
    const index = pending.push(0) - 1;
    return {
      get pending() {
        return pending[index]!;
      },
      pendingFor: () => 0,
      bind: () => Promise.reject(new Error('dealers connect')),
      connect: () => {},
      pause: () => undefined,
      resume: () => undefined,
      start: (listener) => void this.listeners.push(listener),
      send: (_peer, frames) => void this.sent.push(Buffer.concat(frames.slice(1)).toString('latin1')),
      close: (options) => {
        this.closed.push(options?.lingerMs);
        return Promise.resolve();
      },
    };
  }
}

describe('WorkerRunner', () => {
  it('a handler that awaits its partial replies waits while 64 messages wait in the socket', async () => {
    const bench = new Bench();
    let yielded = 0;
    const worker = await bench.start({
      handler: async function* () {
        for (; yielded < 3; yielded++) yield 'p';
      },
    });
    bench.pending[0] = 64;
    bench.request();
    await macrotask();
    expect(yielded).toBe(0);
    bench.clock.advance(100);
    await macrotask();
    expect(yielded).toBe(0);
    bench.pending[0] = 63;
    bench.clock.advance(5);
    await macrotask();
    expect(yielded).toBe(3);
    expect(bench.sent.map((text) => text.charCodeAt(0))).toEqual([1, 3, 3, 3, 4]);
    await worker.close();
  });

  it('messages waiting in the socket of a former conversation hold up nothing', async () => {
    const bench = new Bench();
    const worker = await bench.start({
      handler: async function* () {
        yield 'p';
      },
    });
    bench.pending[0] = 64;
    bench.listener.onPeerGone(ROUTER_PEER);
    bench.request();
    await macrotask();
    expect(worker.stats()).toMatchObject({ partials: 1, replies: 1 });
    await worker.close();
  });

  it('a handler that waits for room is told when the conversation is lost', async () => {
    const bench = new Bench();
    let thrown: unknown;
    const worker = await bench.start({
      handler: async (_request, { partial }) => {
        thrown = await partial('p').catch((error: unknown) => error);
      },
    });
    bench.pending[0] = 64;
    bench.request();
    await macrotask();
    bench.listener.onPeerGone(ROUTER_PEER);
    bench.clock.advance(5);
    await macrotask();
    expect(thrown).toMatchObject({ code: 'PEER_LOST' });
    await worker.close();
  });

  it.each<[string, (listener: PortListener) => void, string]>([
    ['a lost connection', (listener) => listener.onPeerGone(ROUTER_PEER), 'peer-gone'],
    [
      'an undeliverable message',
      (listener) => listener.onUndeliverable(ROUTER_PEER, [], 'congested', 0),
      'undeliverable',
    ],
    ['a broken socket', (listener) => listener.onBroken(new Error('broken')), 'socket-failed'],
  ])('%s ends the conversation without a flush, and the next one begins', async (_what, happen, reason) => {
    const bench = new Bench();
    const worker = await bench.start({});
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    happen(bench.listener);
    expect(bench.closed).toEqual([0]);
    bench.clock.advance(1000);
    expect(bench.listeners.length).toBe(2);
    expect(worker.stats().lost).toEqual({ [reason]: 1 });
    expect(errors.length).toBe(reason === 'socket-failed' ? 1 : 0);
    await worker.close();
  });

  it('what the socket of a former conversation still reports is ignored', async () => {
    const bench = new Bench();
    const worker = await bench.start({});
    const former = bench.listener;
    former.onPeerGone(ROUTER_PEER);
    former.onPeerGone(ROUTER_PEER);
    former.onMessage(ROUTER_PEER, REQUEST);
    expect(worker.stats()).toMatchObject({ requests: 0, lost: { 'peer-gone': 1 }, conversations: 0 });
    bench.listener.onMessage(ROUTER_PEER, [Buffer.alloc(0), Buffer.from('MDPW02'), Buffer.of(4)]);
    expect(worker.stats().conversations).toBe(1);
    await worker.close();
  });

  it('a goodbye is flushed', async () => {
    const bench = new Bench();
    const worker = await bench.start({});
    await worker.drain();
    expect(bench.closed).toEqual([undefined]);
    expect(bench.sent.at(-1)).toBe('\x06');
    expect(bench.clock.armed).toBe(0);
  });

  it('creates no signal for a handler that never uses it, and ignores what a cancelled handler throws', async () => {
    const bench = new Bench();
    let fail: ((error: Error) => void) | undefined;
    const worker = await bench.start({
      handler: () =>
        new Promise<string>((_resolve, reject) => {
          fail = reject;
        }),
    });
    const errors: unknown[] = [];
    worker.on('error', (event) => errors.push(event));
    bench.request();
    const closed = worker.close();
    fail?.(new Error('interrupted'));
    await closed;
    expect(errors).toEqual([]);
    expect(worker.stats().failures).toBe(0);
  });
});
