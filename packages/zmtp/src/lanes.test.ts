import { connect, Socket } from 'node:net';
import { setImmediate as setImmediatePromise } from 'node:timers/promises';
import { ManualClock, systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import { ROUTER_PEER } from '@proj/transport';
import type { PortOptions } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ZmtpTransport } from './index.js';
import type { ZmtpOptions } from './index.js';
import { UNREAD_MAX_BYTES } from './lanes/carrier.js';
import { WINDOW_BYTES } from './lanes/lane.js';
import { GREETING_BYTES } from './engine/framing/greeting.js';
import { HEADER_BYTES, KIND, PREAMBLE, writeLaneHeader } from './engine/framing/lane-frames.js';
import { fromHex, LIBZMQ, wire } from './test/recorder.js';
import { newKeys } from './test/keys.js';
import { ByteRelay } from './test/relay.js';
import { TestPeer } from './test/test-peer.js';
import { loadCurve } from './security.js';

beforeAll(loadCurve);

const TCP = 'tcp://127.0.0.1:*';
const MIB = 2 ** 20;
const QUIET: PortOptions = { connectionHeartbeatMs: 0, lingerMs: 0 };
/** A lane's number, and a size. */
type Numbers = readonly [lane: number, size: number];

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.reverse().map((one) => one.close()));
  opened = [];
});

function kept<Port extends { close(): unknown }>(port: Port): Port {
  opened.push(port);
  return port;
}

interface Fleet {
  readonly server: TestPeer;
  readonly clients: readonly TestPeer[];
  readonly relay: ByteRelay;
}

interface Plan {
  readonly count?: number;
  readonly server?: ZmtpOptions;
  readonly client?: ZmtpOptions;
  readonly routerOptions?: PortOptions;
  readonly dealerOptions?: PortOptions;
}

/** A router, and dealers `d0`, `d1`, ... of one transport connected through a relay; each has sent hello. */
async function fleet({ count = 4, server = {}, client = {}, routerOptions, dealerOptions }: Plan = {}): Promise<Fleet> {
  const port = kept(new ZmtpTransport(server).router({ ...QUIET, ...routerOptions }));
  const endpoint = await port.bind(TCP);
  const relay = kept(await ByteRelay.to(endpoint));
  const station = new TestPeer(port);
  const transport = new ZmtpTransport(client);
  const clients = Array.from({ length: count }, (_, index) => {
    const dealer = kept(transport.dealer({ ...QUIET, routingId: Buffer.from(`d${index}`), ...dealerOptions }));
    dealer.connect(relay.endpoint);
    return new TestPeer(dealer);
  });
  for (const one of clients) one.tell('hello');
  await station.received(count);
  return { server: station, clients, relay };
}

/** The peer of this name, as the router knows it. */
function peerOf({ server }: Fleet, name: string) {
  return server.messages.find(({ peer }) => peer.key === name)!.peer;
}

/** As on Deno: a write reports completion some turns after it went out. */
function completeLate(): void {
  for (const name of ['_write', '_writev'] as const) {
    const write = Socket.prototype[name] as (...args: unknown[]) => void;
    vi.spyOn(Socket.prototype, name).mockImplementation(function (this: Socket, ...args: unknown[]) {
      const done = args.pop() as (error?: Error | null) => void;
      write.call(this, ...args, (error?: Error | null) => {
        afterTurns(50, () => done(error));
      });
    });
  }
}

function afterTurns(left: number, then: () => void): void {
  if (left === 0) then();
  else setImmediate(afterTurns, left - 1, then);
}

/** One frame of lanes. */
function frame(kind: number, [lane, size]: Numbers, payload = ''): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  writeLaneHeader(header, 0, kind, lane, size);
  return Buffer.concat([header, Buffer.from(payload, 'latin1')]);
}

/** A peer that claims to use lanes; resolves to the router's output when it cuts the connection. */
function pretender(endpoint: string, ...parts: readonly Uint8Array[]) {
  const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
  let heard = '';
  const waiters: (() => void)[] = [];
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1');
    for (const wake of waiters) wake();
  });
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([PREAMBLE, ...parts]));
  onTestFinished(() => void socket.destroy());
  return {
    socket,
    closed: new Promise<string>((resolve) => socket.once('close', () => resolve(heard))),
    hears: (text: string) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          if (heard.includes(text)) resolve();
        };
        waiters.push(wake);
        wake();
      }),
  };
}

describe('floods', () => {
  it('of frames that open and end lanes let others have their turn', async () => {
    let now = 0;
    // Each reading of the clock takes time, so a turn ends after a few.
    const clock: Clock = { now: () => (now += 0.25), at: (time, callback) => systemClock.at(time, callback) };
    const port = kept(new ZmtpTransport({ clock, pollUs: 0 }).router(QUIET));
    const endpoint = await port.bind(TCP);
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    count();
    const lanes = Array.from({ length: 2_000 }, (_, index) => [
      frame(KIND.open, [index + 1, 0]),
      frame(KIND.reset, [index + 1, 0]),
    ]);
    await pretender(endpoint, ...lanes.flat(), frame(0, [0, 0])).closed;
    running = false;
    // Two lanes per clock reading, 8 readings per turn: while frames arrive and when the rest is read.
    expect(turns).toBeGreaterThan(2_000 / (2 * 8 * 2));
  });
});

describe('sockets that connect to one endpoint', () => {
  it('share one, once the first has learned that the endpoint accepts lanes', async () => {
    const all = await fleet({ count: 20 });
    expect(all.relay.connections).toBe(2);
    const carriers = all.clients.map((_, index) => peerOf(all, `d${index}`).carrier);
    expect([new Set(carriers.slice(1)).size, carriers[0], typeof carriers[1]]).toEqual([1, undefined, 'string']);
    for (const [index, one] of all.clients.entries()) {
      all.server.say(peerOf(all, `d${index}`), `for ${index}`);
      expect((await one.message(0)).text).toBe(`for ${index}`);
    }
    expect(all.server.gone).toEqual([]);
  });

  it.each<[string, Plan]>([
    ['the binding side turns lanes off', { server: { lanes: false } }],
    ['the connecting side turns lanes off', { client: { lanes: false } }],
  ])('have one each when %s', async (_, plan) => {
    expect((await fleet(plan)).relay.connections).toBe(4);
  });

  it.runIf(HAS_LIBZMQ)('have one each to libzmq, which ignores the lanes property', async () => {
    const zmq = zmqTransport();
    await zmq.load();
    const port = kept(zmq.router(QUIET));
    const relay = kept(await ByteRelay.to(await port.bind(TCP)));
    const station = new TestPeer(port);
    const transport = new ZmtpTransport();
    const dealers = Array.from({ length: 3 }, () => {
      const dealer = kept(transport.dealer(QUIET));
      dealer.connect(relay.endpoint);
      return new TestPeer(dealer);
    });
    for (const [index, one] of dealers.entries()) one.tell(`hello ${index}`);
    await station.received(3);
    for (const { peer } of station.messages) station.say(peer, 'welcome');
    await Promise.all(dealers.map((one) => one.received(1)));
    expect(relay.connections).toBe(3);
  });

  it('do not wait for a first one that fails', async () => {
    const port = kept(new ZmtpTransport().router({ ...QUIET, curve: { role: 'server', keys: newKeys() } }));
    const endpoint = await port.bind(TCP);
    const failures: string[] = [];
    const failed = new Promise<void>((resolve) => {
      const transport = new ZmtpTransport({
        onConnectionFailed: ({ code }) => {
          if (failures.push(code) === 3) resolve();
        },
      });
      for (let index = 0; index < 3; index++) kept(transport.dealer(QUIET)).connect(endpoint);
    });
    await failed;
    expect(new Set(failures)).toEqual(new Set(['mechanism']));
  });

  it('authenticate separately with CURVE', async () => {
    const [server, client] = [newKeys(), newKeys()];
    const asked: string[] = [];
    const authorize = (key: Uint8Array) => {
      asked.push(Buffer.from(key).toString('hex'));
      return true;
    };
    const all = await fleet({
      routerOptions: { curve: { role: 'server', keys: server, authorize } },
      dealerOptions: { curve: { role: 'client', keys: client, serverKey: server.publicKey } },
    });
    expect(all.relay.connections).toBe(2);
    expect(asked).toEqual(new Array(4).fill(Buffer.from(client.publicKey).toString('hex')));
    expect(all.relay.heard.there).not.toContain('hello');
  });
});

describe('a lane', () => {
  it('ends alone, and its peer learns of it', async () => {
    const all = await fleet();
    await all.clients[2]!.port.close();
    await all.server.until(() => all.server.gone.length > 0);
    expect(all.server.gone).toEqual(['d2']);
    all.server.say(peerOf(all, 'd3'), 'still there');
    expect((await all.clients[3]!.message(0)).text).toBe('still there');
    all.server.say(peerOf(all, 'd2'), 'x');
    expect(all.server.undeliverable).toEqual(['unreachable x']);
  });

  it('delivers the messages sent before it ended', async () => {
    const all = await fleet();
    all.server.port.pause();
    const texts = Array.from({ length: 500 }, (_, index) => `${index}|${'x'.repeat(10_000)}`);
    all.clients[1]!.tell(...texts);
    const closing = all.clients[1]!.port.close({ lingerMs: 60_000 });
    all.server.port.resume();
    await closing;
    await all.server.until(() => all.server.gone.length > 0);
    expect(all.server.texts.slice(4)).toEqual(texts);
  });

  it('that is not read blocks only its own sender', async () => {
    const all = await fleet({ dealerOptions: { highWaterMark: 10_000, peerQueueMaxBytes: 2 ** 30 } });
    const [, slow, quick] = all.clients as [TestPeer, TestPeer, TestPeer];
    slow.port.pause();
    const body = Buffer.alloc(WINDOW_BYTES / 8, 7);
    const slowPeer = peerOf(all, 'd1');
    let sent = 0;
    // Until every window, buffer and queue is full.
    while (all.server.undeliverable.length === 0 && sent < 2000) {
      for (let index = 0; index < 10; index++, sent++) all.server.port.send(slowPeer, [body]);
      all.server.say(peerOf(all, 'd2'), 'quick');
      await quick.received(sent / 10);
    }
    expect(all.server.undeliverable.length).toBeGreaterThan(0);
    const lost = all.server.undeliverable.length;
    expect(slow.messages.length).toBe(0);
    expect(quick.messages.length).toBe(sent / 10);
    slow.port.resume();
    await slow.received(sent - lost);
    expect(slow.messages.every(({ frames }) => frames[0]!.length === body.length)).toBe(true);
  });

  it('carries messages of any size', async () => {
    const all = await fleet();
    const body = Buffer.alloc(5 * WINDOW_BYTES + 17, 'abcdefg');
    all.clients[1]!.port.send(peerOf(all, 'd1'), [body]);
    await all.server.received(5);
    expect(Buffer.compare(all.server.messages[4]!.frames[0]!, body)).toBe(0);
  });
});

describe('a connection under lanes', () => {
  it('carries long bodies unchanged both ways, even if a listener pauses after each', async () => {
    const { server, clients } = await fleet({ count: 3 });
    const body = (seed: number) => Buffer.from(Uint8Array.from({ length: 700_000 }, (_, at) => at * seed + (at >> 8)));
    const bodies = clients.map((_, index) => Array.from({ length: 5 }, (_, at) => body(10 * index + at + 1)));
    server.onEach = (peer, frames) => {
      server.port.send(peer, frames);
      server.port.pause();
      setImmediate(() => {
        server.port.resume();
      });
    };
    for (const [index, one] of clients.entries())
      for (const each of bodies[index]!) one.port.send(ROUTER_PEER, [each, Buffer.from('end')]);
    for (const [index, one] of clients.entries()) {
      await one.received(5);
      const same = one.messages.map(({ frames: [first] }, at) => Buffer.compare(first!, bodies[index]![at]!));
      expect(same).toEqual([0, 0, 0, 0, 0]);
    }
  });

  it('sends the whole greeting even if its first bytes are still being written', async () => {
    completeLate();
    // A CURVE server sends more than its signature only after the peer has begun.
    const port = kept(new ZmtpTransport().router({ ...QUIET, curve: { role: 'server', keys: newKeys() } }));
    const endpoint = await port.bind(TCP);
    const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
    opened.push({ close: () => socket.destroy() });
    let heard = Buffer.alloc(0);
    for await (const chunk of socket) {
      if (heard.length === 0) socket.write(PREAMBLE);
      heard = Buffer.concat([heard, chunk as Buffer]);
      if (heard.length >= GREETING_BYTES + PREAMBLE.length) break;
    }
    expect(heard.indexOf(PREAMBLE)).toBe(GREETING_BYTES);
  });

  it('sends the output of many lanes in one write per turn', async () => {
    const all = await fleet();
    const write = vi.spyOn(Socket.prototype, '_write');
    for (const name of ['d1', 'd2', 'd3'])
      for (let count = 0; count < 10; count++) all.server.say(peerOf(all, name), 'x');
    await Promise.all(all.clients.slice(1).map((one) => one.received(10)));
    const own = write.mock.calls.map(([bytes]) => (bytes as Uint8Array).length);
    // The second one is the relay's.
    expect(own).toEqual([117, 117]);
  });

  it('ends all its lanes when it is cut; they reopen on a new one', async () => {
    const all = await fleet();
    all.relay.cut();
    await all.server.until(() => all.server.gone.length === 4);
    for (const one of all.clients) await one.until(() => one.gone.length === 1);
    for (const one of all.clients) one.tell('again');
    await all.server.received(8);
    expect(new Set(all.server.messages.slice(4).map(({ peer }) => peer.key))).toEqual(
      new Set(['d0', 'd1', 'd2', 'd3']),
    );
  });

  it('ends its lanes in turns when it is cut, since each end may be much work', async () => {
    const clock = new ManualClock();
    const { server, relay } = await fleet({ count: 40, server: { clock } });
    let turn = 0;
    const counts: number[] = [];
    const count = () => {
      turn++;
      if (server.gone.length < 40) setImmediate(count);
    };
    count();
    vi.spyOn(server, 'onPeerGone').mockImplementation(({ key }) => {
      server.gone.push(key);
      counts[turn] = (counts[turn] ?? 0) + 1;
      clock.advance(1);
    });
    relay.cut();
    while (server.gone.length < 40) await setImmediatePromise();
    // A turn lasts 2 ms, before and after the writers.
    expect(Math.max(...counts.filter(Boolean))).toBeLessThanOrEqual(4);
  });

  it('ends with the last lane', async () => {
    const all = await fleet();
    const closed = new Promise((resolve) => {
      const end = vi.spyOn(Socket.prototype, 'destroySoon').mockImplementation(function (this: Socket) {
        end.mockRestore();
        this.once('close', resolve);
        this.destroySoon();
      });
    });
    await Promise.all(all.clients.slice(1).map((one) => one.port.close()));
    await closed;
  });

  it('is not read while too much waits in its lanes', async () => {
    const count = 3 * (UNREAD_MAX_BYTES / WINDOW_BYTES);
    const all = await fleet({ count, dealerOptions: { highWaterMark: 10_000, peerQueueMaxBytes: 2 ** 30 } });
    const pause = vi.spyOn(Socket.prototype, 'pause');
    const paused = new Promise<void>((resolve) => {
      const original = pause.getMockImplementation();
      pause.mockImplementation(function (this: Socket) {
        pause.mockRestore();
        expect(original).toBeUndefined();
        resolve();
        return this.pause();
      });
    });
    all.server.port.pause();
    const body = Buffer.alloc(WINDOW_BYTES / 2, 7);
    for (const one of all.clients) for (let index = 0; index < 4; index++) one.port.send(ROUTER_PEER, [body]);
    await paused;
    all.server.port.resume();
    await all.server.received(5 * count);
  });

  it('ends after the handshake timeout if it has no lanes', async () => {
    const clock = new ManualClock();
    const port = kept(new ZmtpTransport({ clock, handshakeTimeoutMs: 5000 }).router(QUIET));
    const endpoint = await port.bind(TCP);
    const { hears, closed } = pretender(endpoint);
    await hears(Buffer.from(PREAMBLE).toString('latin1'));
    clock.advance(4999);
    expect(clock.nextDeadline).toBe(clock.now() + 1);
    clock.advance(1);
    await closed;
  });

  it.each<[string, Buffer]>([
    ['sends another version', Buffer.from('x')],
    ['sends an unknown kind of frame', frame(9, [1, 0])],
    ['opens lanes in descending order', Buffer.concat([frame(KIND.open, [2, 0]), frame(KIND.open, [1, 0])])],
    ['sends data in a lane it never opened', frame(KIND.data, [1, 1], 'x')],
    ['grants a window for a lane that is not open', frame(KIND.window, [7, 100])],
    [
      'sends more than its window allows',
      // Neither the message nor anything after it is accepted.
      Buffer.concat([
        frame(KIND.open, [1, 0]),
        frame(KIND.data, [1, 2 ** 31]),
        fromHex(LIBZMQ.greeting, LIBZMQ.ready, wire('x')),
        Buffer.alloc(2 * WINDOW_BYTES),
      ]),
    ],
  ])('is cut when the other side %s', async (title, bytes) => {
    const port = kept(new ZmtpTransport().router(QUIET));
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    // So that nothing is read and no window is granted.
    port.pause();
    if (title === 'sends another version') {
      const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      onTestFinished(() => void socket.destroy());
      socket.write('LANES/2\n');
      await new Promise((resolve) => socket.once('close', resolve));
    } else await pretender(endpoint, bytes).closed;
    expect(station.messages).toEqual([]);
  });

  it('refuses lanes beyond the limit of connections', async () => {
    const port = kept(new ZmtpTransport({ connectionsMax: 3 }).router(QUIET));
    const endpoint = await port.bind(TCP);
    const opens = [1, 2, 3, 4, 5].map((lane) => frame(KIND.open, [lane, 0]));
    const { hears, socket } = pretender(endpoint, ...opens);
    await hears(frame(KIND.reset, [4, 0]).toString('latin1'));
    await hears(frame(KIND.reset, [5, 0]).toString('latin1'));
    socket.destroy();
  });

  it('counts as one peer, however many lanes it has, when much is unread', async () => {
    const all = await fleet({
      count: 8,
      server: { unreadMaxBytes: 8 * MIB },
      routerOptions: { queueMaxBytes: MIB, peerQueueMax: 0 },
    });
    const { server } = all;
    const body = new Uint8Array(MIB);
    const send = (index: number): void => {
      for (let count = 0; count < 10; count++) server.port.send(peerOf(all, `d${index}`), [body]);
    };
    // Nothing is written before the turn ends. The first dealer has a connection of its own.
    for (let index = 1; index < 8; index++) send(index);
    expect(server.port.heldBytes).toBeGreaterThan(4 * MIB);
    // Half of the bound, and one message more at most.
    expect(server.port.heldBytes).toBeLessThan(6 * MIB);
    server.port.send(peerOf(all, 'd0'), [Buffer.from('for you')]);
    await all.clients[0]!.received(1);
    expect(all.clients[0]!.texts).toEqual(['for you']);
  });

  it('does not keep a port from closing', async () => {
    const all = await fleet();
    await all.server.port.close();
    await Promise.all(all.clients.map((one) => one.until(() => one.gone.length === 1)));
  });
});
