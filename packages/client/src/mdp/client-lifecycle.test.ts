import { ManualClock } from '@proj/heartbeat';
import { ProjError, ROUTER_PEER } from '@proj/transport';
import type { PortListener, SocketPort, Transport } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { echo, silence, Stage, text } from '../../test/mdp/stage.js';
import { MdpClient } from './client.js';
import type { MdpClientNote } from './engine/session.js';

/** A transport that fails where the test says, and leaves the rest to the test. */
class FakeTransport implements Transport {
  readonly clock = new ManualClock();
  readonly entropy = { wallMicros: () => 0, uuid: () => '', random: () => 0 };
  readonly listeners: PortListener[] = [];
  closed = 0;
  faults: { load?: Error; dealer?: Error; connect?: Error };
  /** Resolves every `close`; none is done before that. */
  release: () => void = () => {};
  readonly #released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  constructor(faults: { load?: Error; dealer?: Error; connect?: Error } = {}) {
    this.faults = faults;
  }

  load(): Promise<void> {
    return this.faults.load === undefined ? Promise.resolve() : Promise.reject(this.faults.load);
  }

  router(): SocketPort {
    throw new Error('not for clients');
  }

  publisher(): never {
    throw new Error('not for clients');
  }

  subscriber(): never {
    throw new Error('not for clients');
  }

  dealer(): SocketPort {
    if (this.faults.dealer !== undefined) throw this.faults.dealer;
    return {
      bind: () => Promise.reject(new Error('not for clients')),
      connect: () => {
        if (this.faults.connect !== undefined) throw this.faults.connect;
      },
      start: (listener) => this.listeners.push(listener),
      send: () => {},
      pending: 0,
      pendingFor: () => 0,
      pause: () => {},
      resume: () => {},
      close: () => {
        this.closed++;
        return this.#released;
      },
    };
  }
}

/** Runs everything that is ready. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('construction', () => {
  it('is optional: a client that was never used needs no close', () => {
    const stage = new Stage();
    stage.client();
    expect(stage.network.clock.nextDeadline).toBe(Infinity);
  });
});

describe('close', () => {
  it('rejects every open call with CLOSED', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const client = stage.client({ sockets: 1 });
    const calls = [client.request('echo', '1'), client.request('echo', '2'), client.stream('echo', '3').next()];
    const outcomes = Promise.allSettled(calls);
    await stage.advance(10);
    await stage.settle(client.close());
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'CLOSED', message: 'service "echo": the client is closed' },
      });
    }
  });

  it('before the transport is loaded rejects calls, too, and nothing is sent', async () => {
    const stage = new Stage();
    const broker = await stage.broker(echo);
    const client = stage.client();
    const call = client.request('echo', 'x');
    const closed = client.close();
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' });
    await stage.settle(closed);
    await stage.advance(100);
    expect(broker.asked).toEqual([]);
  });

  it('refuses later calls with CLOSED', async () => {
    const stage = new Stage();
    const client = stage.client();
    await client.close();
    await expect(client.request('echo', 'x')).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(client.stream('echo', 'x').next()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('is idempotent, and the same as leaving `await using`', async () => {
    const stage = new Stage();
    const client = stage.client();
    expect(client.close()).toBe(client.close());
    expect(client[Symbol.asyncDispose]()).toBe(client.close());
    await client.close();
  });

  it('leaves no socket and no timer', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.service === 'echo' && echo(asked));
    const client = stage.client();
    await stage.settle(client.request('echo', 'x'));
    void client.request('mute', 'x').catch(() => {});
    await stage.advance(10);
    expect(client.stats().lanes).toBe(1);
    await stage.settle(client.close());
    await stage.settle(broker.close());
    await stage.advance(1000);
    expect(client.stats().lanes).toBe(0);
    expect(stage.network.clock.nextDeadline).toBe(Infinity);
  });

  it('may be called from a listener', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.raw([Buffer.from('garbage')]);
      asked.final('too late');
    });
    const client = stage.client();
    let closed: Promise<void> | undefined;
    client.on('note', () => {
      closed ??= client.close();
    });
    await expect(stage.settle(client.request('echo', 'x'))).rejects.toMatchObject({ code: 'CLOSED' });
    await stage.settle(closed!);
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0 });
  });
});

describe('a failing machine', () => {
  it('no ZeroMQ: calls reject with the reason, and a later call tries again', async () => {
    const fault = new ProjError('UNAVAILABLE', 'no addon');
    const transport = new FakeTransport({ load: fault });
    const client = new MdpClient({ transport });
    const calls = await Promise.allSettled([client.request('echo', '1'), client.request('echo', '2')]);
    expect(calls).toEqual(calls.map(() => ({ status: 'rejected', reason: fault })));
    transport.faults = {};
    void client.request('echo', '3').catch(() => {});
    await turn();
    expect(transport.listeners).toHaveLength(1);
    expect(client.stats().calls).toBe(1);
  });

  it('calls that wait for the transport are bounded like those that wait for a socket', async () => {
    const transport = new FakeTransport();
    transport.load = () => new Promise(() => {});
    const client = new MdpClient({ transport, sockets: 1, waitingMax: 1 });
    void client.request('echo', '1').catch(() => {});
    void client.request('echo', '2').catch(() => {});
    await expect(client.request('echo', '3')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  });

  it.each(['dealer', 'connect'] as const)('%s throws: UNREACHABLE with the cause, at once', async (place) => {
    const cause = new Error('refused');
    const client = new MdpClient({ transport: new FakeTransport({ [place]: cause }) });
    await expect(client.request('echo', 'x')).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: 'service "echo": cannot open a socket: refused',
      cause,
    });
    expect(client.stats().lanes).toBe(0);
  });

  it('a socket that could not connect is closed again', async () => {
    const transport = new FakeTransport({ connect: new Error('refused') });
    await expect(new MdpClient({ transport }).request('echo', 'x')).rejects.toThrow('refused');
    expect(transport.closed).toBe(1);
  });

  it.each<[string, (listener: PortListener) => void]>([
    ['an undeliverable message', (listener) => listener.onUndeliverable(ROUTER_PEER, [], 'unreachable', 0)],
    ['a connection that ended', (listener) => listener.onPeerGone(ROUTER_PEER)],
    ['a broken socket', (listener) => listener.onBroken(new Error('broken'))],
  ])('%s: the request is resent on another socket', async (_, happen) => {
    const transport = new FakeTransport();
    const client = new MdpClient({ transport });
    void client.request('echo', 'x').catch(() => {});
    await turn();
    happen(transport.listeners[0]!);
    expect(transport.listeners).toHaveLength(2);
    expect(transport.closed).toBe(1);
    expect(client.stats()).toMatchObject({ lanes: 1, sends: 2 });
  });

  it('close waits for slow sockets', async () => {
    const transport = new FakeTransport();
    const client = new MdpClient({ transport });
    void client.request('echo', 'x').catch(() => {});
    await turn();
    let closed = false;
    const closing = client.close().then(() => (closed = true));
    await turn();
    expect([transport.closed, closed]).toEqual([1, false]);
    transport.release();
    await closing;
    expect(transport.clock.armed).toBe(0);
  });
});

describe('notes and counters', () => {
  it('report resends and dropped messages', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => {
      asked.raw([Buffer.from('garbage')]);
      if (broker.asked.length > 1) asked.final('ok');
    });
    const client = stage.client();
    const notes: MdpClientNote[] = [];
    const off = client.on('note', (note) => notes.push(note));
    expect(text(await stage.settle(client.request('echo', 'x')))).toBe('ok');
    const { endpoint } = broker;
    const dropped = { code: 'message-dropped', reason: 'unknown-header', endpoint };
    expect(notes).toEqual([dropped, { code: 'request-resent', cause: 'silence', endpoint, send: 2 }, dropped]);
    off();
    await stage.settle(client.request('echo', 'x'));
    expect(notes).toHaveLength(3);
  });
});
