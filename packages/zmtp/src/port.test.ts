import { randomUUID } from 'node:crypto';
import { connect, createServer, Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ManualClock, systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import { ownEndpoint } from '@proj/testkit';
import type { PortOptions } from '@proj/transport';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Connection } from './connection.js';
import { ZmtpTransport } from './index.js';
import type { ConnectionFailure, ZmtpOptions } from './index.js';
import { fromHex, LIBZMQ, wire } from './test/recorder.js';
import { ByteRelay } from './test/relay.js';
import { TestPeer } from './test/test-peer.js';
import { Turns } from './turn.js';

const TCP = 'tcp://127.0.0.1:*';
/** PING without a time-to-live. */
const PING = '04070450494e470000';
/** The discard port, where no process listens. */
const NOBODY = 'tcp://127.0.0.1:9';

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

/** A transport, and the failures it reported. */
function observed(options: ZmtpOptions = {}) {
  const failures: ConnectionFailure[] = [];
  const waiting: (() => void)[] = [];
  const transport = new ZmtpTransport({
    ...options,
    onConnectionFailed: (failure) => {
      failures.push(failure);
      for (const wake of waiting) wake();
    },
  });
  return {
    failures,
    router: (port: PortOptions = {}) => kept(transport.router({ lingerMs: 0, ...port })),
    dealer: (port: PortOptions = {}) => kept(transport.dealer({ lingerMs: 0, ...port })),
    failed: (count = 1) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          if (failures.length >= count) resolve();
        };
        waiting.push(wake);
        wake();
      }),
  };
}

function kept<Port extends { close(): unknown }>(port: Port): Port {
  opened.push(port);
  return port;
}

/** A connection that sends what it is told, and the bytes it receives until it is closed. */
function stranger(endpoint: string, ...hex: readonly string[]) {
  const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.write(fromHex(...hex));
  onTestFinished(() => void socket.destroy());
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
  return { socket, closed };
}

/** A server that accepts connections and never sends anything. */
async function mute(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  kept({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Resolves when the socket receives this. */
function hears(socket: Socket, text: string): Promise<void> {
  let heard = '';
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      if (heard.includes(text)) resolve();
    });
  });
}

/** The addresses of this machine. */
function addresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a misbehaving peer', () => {
  it.each([
    ['speaks another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('hex'), 'not-zmtp'],
    ['sends a message before READY', LIBZMQ.greeting + wire('x'), 'malformed'],
    ['begins a frame that is too large', `${LIBZMQ.greeting}${LIBZMQ.ready}02ffffffffffffffff`, 'too-large'],
  ])('is cut and reported when it %s', async (_, hex, code) => {
    const { failures, failed, router } = observed();
    const port = router();
    const endpoint = await port.bind(TCP);
    await stranger(endpoint, hex).closed;
    await failed();
    expect(failures).toMatchObject([{ endpoint: TCP, code }]);
  });

  it.each([
    ['speaks another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('hex')],
    ['sends a message before READY', LIBZMQ.greeting + wire('x')],
    ['begins a frame that is too large', `${LIBZMQ.greeting}${LIBZMQ.ready}02ffffffffffffffff`],
  ])('is told nothing when the first that it does is that it %s', async (_, hex) => {
    const { router, failed } = observed();
    const endpoint = await router().bind(TCP);
    expect(await stranger(endpoint, hex).closed).toBe('');
    await failed();
  });

  it('gets the reason in ERROR if its socket type is wrong', async () => {
    const { router } = observed();
    const endpoint = await router().bind(TCP);
    const ready = LIBZMQ.ready.replace('064445414c4552', '06524555494c45');
    expect(await stranger(endpoint, LIBZMQ.greeting, ready).closed).toContain('ERROR');
  });

  it('is cut when the handshake takes too long, whichever side connected', async () => {
    const clock = new ManualClock();
    const { failures, failed, router, dealer } = observed({ clock, handshakeTimeoutMs: 500 });
    const port = router();
    const { closed, socket } = stranger(await port.bind(TCP), LIBZMQ.greeting);
    // The router has read the greeting when its READY arrives.
    await hears(socket, 'READY');
    dealer().connect(await mute());
    clock.advanceTo(499);
    expect(failures).toEqual([]);
    clock.advanceTo(500);
    await closed;
    await failed(2);
    expect(failures.map(({ code }) => code)).toEqual(['handshake-timeout', 'handshake-timeout']);
  });

  it('does not disturb others, whatever it sends', async () => {
    const { router, dealer, failed } = observed();
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const client = dealer();
    client.connect(endpoint);
    const other = new TestPeer(client);
    for (let round = 0; round < 50; round++) {
      const garbage = Buffer.from('0123456789abcdef-'.repeat(3 * round));
      stranger(endpoint, LIBZMQ.greeting.slice(0, 128 - round), garbage.toString('hex'));
    }
    await failed(40);
    other.tell('hello');
    expect((await station.message(0)).text).toBe('hello');
  });

  it('cannot exceed the limit of connections', async () => {
    const transport = new ZmtpTransport({ connectionsMax: 2 });
    const port = kept(transport.router({ lingerMs: 0 }));
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const known = ['a', 'b'].map((name) => {
      const dealer = kept(transport.dealer({ lingerMs: 0, routingId: Buffer.from(name) }));
      dealer.connect(endpoint);
      return new TestPeer(dealer);
    });
    for (const one of known) one.tell('hello');
    await station.received(2);
    expect(await stranger(endpoint, LIBZMQ.greeting).closed).toBe('');
    known[0]!.tell('still here');
    await station.received(3);
  });
});

describe('a peer of ZMTP 3.0', () => {
  it('is left to the keep-alive of TCP, others are not', async () => {
    const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
    const { router } = observed();
    const port = router({ connectionHeartbeatMs: 3_000 });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, wire('new'));
    await station.received(1);
    expect(keepAlive).not.toHaveBeenCalled();
    const other = LIBZMQ.ready.replace(/37$/, '38');
    stranger(endpoint, LIBZMQ.greeting.replace('0301', '0300'), other, wire('old'));
    await station.received(2);
    expect(keepAlive.mock.calls).toEqual([[true, 3_000]]);
  });
});

describe('an endpoint', () => {
  const places: [endpoint: string, available: boolean][] = [
    ['tcp://localhost:*', true],
    ['tcp://[::1]:*', addresses().includes('::1')],
    [`ipc://@proj-${randomUUID()}`, process.platform === 'linux'],
  ];
  it.each(places.filter(([, available]) => available))('such as %s can be bound and connected to', async (endpoint) => {
    const { router, dealer } = observed();
    const port = router();
    const bound = await port.bind(endpoint);
    const station = new TestPeer(port);
    const client = dealer();
    client.connect(bound);
    new TestPeer(client).tell('hello');
    expect((await station.message(0)).text).toBe('hello');
  });
});

describe('a connection that fails', () => {
  it('is made again after growing pauses, and each failure is reported', async () => {
    const clock = new ManualClock();
    const entropy = { wallMicros: () => 0, uuid: randomUUID, random: () => 0.5 };
    const { failures, failed, dealer } = observed({ clock, entropy, reconnectMinMs: 100, reconnectMaxMs: 300 });
    const port = dealer();
    port.connect(NOBODY);
    for (const [attempt, pauseMs] of [75, 150, 225, 225].entries()) {
      await failed(attempt + 1);
      expect(clock.nextDeadline).toBe(clock.now() + pauseMs);
      clock.advance(pauseMs);
    }
    await failed(5);
    expect(new Set(failures.map(({ code, endpoint }) => `${code} ${endpoint}`))).toEqual(
      new Set([`network ${NOBODY}`]),
    );
  });
});

describe('messages of one turn', () => {
  it('leave in one write per connection', async () => {
    const { router, dealer } = observed({ lanes: false });
    const port = router({ connectionHeartbeatMs: 0 });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const dealers = ['a', 'b'].map((name) => {
      const one = dealer({ routingId: Buffer.from(name), connectionHeartbeatMs: 0 });
      one.connect(endpoint);
      return new TestPeer(one);
    });
    for (const one of dealers) one.tell('hello');
    await station.received(2);
    const write = vi.spyOn(Socket.prototype, '_write');
    for (let count = 0; count < 100; count++)
      for (const { peer } of station.messages.slice(0, 2)) station.say(peer, 'x');
    await Promise.all(dealers.map((one) => one.received(100)));
    expect(write.mock.calls.map(([bytes]) => (bytes as Uint8Array).length)).toEqual([300, 300]);
  });

  it.each([
    ['PINGs', PING],
    ['PONGs', '040504504f4e47'],
    ['unknown commands', '04040248454c'],
    ['rejected messages', wire('1', '2')],
  ])('let others have their turn in a flood of %s', async (_, hex) => {
    let now = 0;
    // Each reading of the clock takes time, so a turn ends after a few.
    const clock: Clock = { now: () => (now += 0.25), at: (time, callback) => systemClock.at(time, callback) };
    const { router } = observed({ clock, pollUs: 0 });
    const port = router({ maxMessageFrames: 1, connectionHeartbeatMs: 0 });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    count();
    for (const name of ['1', '2'])
      stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready.replace(/37$/, `3${name}`), hex.repeat(10_000), wire('end'));
    await station.received(2);
    running = false;
    // 16 of them per clock reading, 8 readings per turn: while messages arrive and when waiting readers resume.
    expect(turns).toBeGreaterThan(20_000 / (16 * 8 * 2));
  });

  it('let others have their turn, however many there are', async () => {
    const clock = new ManualClock();
    const { router } = observed({ clock });
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    let turns = 0;
    const counts = new Map<number, number>();
    station.onEach = () => {
      counts.set(turns, (counts.get(turns) ?? 0) + 1);
      clock.advance(1 / 4);
    };
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    count();
    for (const name of ['1', '2', '3', '4', '5'])
      stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready.replace(/37$/, `3${name}`), wire('x').repeat(400));
    await station.received(2_000);
    running = false;
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(32);
    expect(new Set(station.messages.slice(0, 400).map(({ peer }) => peer.key)).size).toBeGreaterThan(1);
  });
});

describe('a routing id that is taken', () => {
  it('becomes free when its holder leaves: the waiting peer gets it, and its messages are delivered', async () => {
    const { router, dealer } = observed();
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const first = dealer({ routingId: Buffer.from('worker-7') });
    first.connect(endpoint);
    new TestPeer(first).tell('first');
    await station.received(1);
    const { socket } = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, PING, wire('second'));
    await hears(socket, 'PONG');
    expect([station.texts, station.gone]).toEqual([['first'], []]);
    await first.close();
    await station.received(2);
    expect([station.texts, station.gone]).toEqual([['first', 'second'], ['worker-7']]);
    station.say(station.messages[1]!.peer, 'for the second');
    await hears(socket, 'for the second');
  });

  it.each([true, false])('passes through many peers in turn, with handover: %s', async (handover) => {
    const { router } = observed();
    const port = router({ handover });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const twins = [];
    for (const name of ['1', '2', '3']) {
      const twin = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, PING, wire(name));
      await hears(twin.socket, 'PONG');
      twins.push(twin);
    }
    for (const [index, { socket }] of twins.entries()) {
      await station.received(index + 1);
      socket.destroy();
    }
    await station.until(() => station.gone.length === 3);
    expect(station.texts).toEqual(['1', '2', '3']);
  });

  it('makes each of many peers wait once only, however many holders leave before it', async () => {
    const waits = vi.spyOn(Connection.prototype, 'wait');
    onTestFinished(() => waits.mockRestore());
    const { router } = observed();
    const port = router({ handover: true });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const names = ['1', '2', '3', '4', '5', '6'];
    const twins = [];
    for (const name of names) {
      const twin = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, PING, wire(name));
      await hears(twin.socket, 'PONG');
      twins.push(twin);
    }
    for (const [index, { socket }] of twins.entries()) {
      await station.received(index + 1);
      socket.destroy();
    }
    await station.until(() => station.gone.length === names.length);
    expect(station.texts).toEqual(names);
    expect(waits).toHaveBeenCalledTimes(names.length - 1);
  });

  it('stays with a live holder, whoever asks for it, even with handover', async () => {
    const { router, dealer, failures } = observed();
    const quick = { connectionHeartbeatMs: 100, connectionTimeoutMs: 100 };
    const port = router({ ...quick, handover: true });
    const relay = kept(await ByteRelay.to(await port.bind(TCP)));
    const station = new TestPeer(port);
    const id = { ...quick, connectionHeartbeatMs: 10_000, routingId: Buffer.from('twin') };
    const [holder, newcomer] = [dealer(id), dealer(id)];
    holder.connect(relay.endpoint);
    const first = new TestPeer(holder);
    first.tell('first');
    await station.received(1);
    newcomer.connect(relay.endpoint);
    const second = new TestPeer(newcomer);
    second.tell('second');
    // Silence would have been detected twice by now.
    await relay.says('there', 'PONG', 4);
    first.tell('still here');
    await station.received(2);
    expect([station.texts, station.gone, failures]).toEqual([['first', 'still here'], [], []]);
    await holder.close();
    await station.received(3);
    expect([station.texts[2], station.gone]).toEqual(['second', ['twin']]);
  });

  it('is handed over from a silent holder, whose end is reported before the newcomer’s messages', async () => {
    const { router, failures } = observed();
    const port = router({ handover: true, connectionHeartbeatMs: 60_000 });
    const silent = router({ handover: true, connectionHeartbeatMs: 100, connectionTimeoutMs: 60_000 });
    for (const [one, takesOver] of [
      [port, false],
      [silent, true],
    ] as const) {
      const endpoint = await one.bind(TCP);
      const station = new TestPeer(one);
      const story: string[] = [];
      station.onEach = () => story.push(`${station.gone.length} gone, ${station.texts.at(-1)!}`);
      stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, wire('first'));
      await station.received(1);
      const { socket } = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, PING, wire('second'));
      await hears(socket, 'PONG');
      if (takesOver) await station.received(2);
      expect(story).toEqual(takesOver ? ['0 gone, first', '1 gone, second'] : ['0 gone, first']);
    }
    expect(failures.map(({ code }) => code)).toEqual(['silent']);
  });
});

it('counts each message as one of somebody who waits, but no PING', async () => {
  const heard = vi.spyOn(Turns.prototype, 'heard');
  const { router } = observed();
  const port = router();
  const endpoint = await port.bind(TCP);
  const station = new TestPeer(port);
  const { socket } = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, PING);
  await hears(socket, 'PONG');
  expect(heard).not.toHaveBeenCalled();
  socket.write(fromHex(wire('1'), wire('2')));
  await station.received(2);
  expect(heard).toHaveBeenCalledTimes(2);
});

describe('a port that is paused', () => {
  it('answers PING, holds messages back, and delivers them in order before it reports that the peer is gone', async () => {
    const { router } = observed();
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const { socket } = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, wire('1'));
    await station.received(1);
    port.pause();
    port.pause();
    socket.write(fromHex(PING));
    await hears(socket, 'PONG');
    socket.end(fromHex(wire('2'), wire('3')));
    for (let turns = 0; turns < 20; turns++) await turn();
    expect([station.texts, station.gone]).toEqual([['1'], []]);
    port.resume();
    await station.until(() => station.gone.length > 0);
    expect(station.texts).toEqual(['1', '2', '3']);
  });

  it('may be closed', async () => {
    const { router } = observed();
    const port = router({ lingerMs: 60_000 });
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const { socket } = stranger(endpoint, LIBZMQ.greeting, LIBZMQ.ready, wire('1'));
    await station.received(1);
    port.pause();
    socket.write(fromHex(wire('2')));
    await port.close();
    expect(station.texts).toEqual(['1']);
  });
});

describe('a port that is closed', () => {
  it('leaves no timer behind, connected, connecting or waiting for the next attempt', async () => {
    const clock = new ManualClock();
    const { router, dealer, failed } = observed({ clock });
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    const [connected, connecting, refused] = [dealer(), dealer(), dealer()] as const;
    connected.connect(endpoint);
    new TestPeer(connected).tell('hello');
    await station.received(1);
    refused.connect(NOBODY);
    await failed();
    connecting.connect(await mute());
    expect(clock.armed).toBeGreaterThan(0);
    await Promise.all([port, connected, connecting, refused].map((one) => one.close()));
    expect(clock.armed).toBe(0);
  });

  it.each([
    ['delivers what was sent in the same turn, if its linger is 0', undefined, ['bye']],
    ['discards that too, if it is closed with a linger of 0', { lingerMs: 0 }, []],
  ])('%s', async (_, options, expected) => {
    const { router, dealer } = observed();
    const port = router();
    const endpoint = await port.bind(TCP);
    const station = new TestPeer(port);
    // The second one has a lane.
    const stations = ['own', 'lane'].map((name) => {
      const one = dealer({ routingId: Buffer.from(name) });
      one.connect(endpoint);
      return new TestPeer(one);
    });
    for (const one of stations) one.tell('hello');
    await station.received(2);
    for (const { peer } of station.messages) station.say(peer, 'bye');
    await port.close(options);
    for (const one of stations) await one.until(() => one.gone.length > 0);
    expect(stations.map(({ texts }) => texts)).toEqual([expected, expected]);
  });

  it('delivers what waited for a connection that was made only then', async () => {
    const { router, dealer } = observed({ reconnectMinMs: 5, reconnectMaxMs: 5 });
    const endpoint = await ownEndpoint();
    const early = dealer({ lingerMs: 60_000 });
    early.connect(endpoint);
    new TestPeer(early).tell('early', 'bird');
    const closing = early.close();
    const second = router();
    await second.bind(endpoint);
    const station = new TestPeer(second);
    await closing;
    await station.received(2);
    expect(station.texts).toEqual(['early', 'bird']);
  });
});

describe('settings', () => {
  it.each([
    [{ handshakeTimeoutMs: 0 }, 'handshakeTimeoutMs = 0'],
    [{ reconnectMinMs: 1.5 }, 'reconnectMinMs = 1.5'],
    [{ reconnectMinMs: 200, reconnectMaxMs: 100 }, 'reconnectMaxMs = 100'],
    [{ connectionsMax: -1 }, 'connectionsMax = -1'],
    [{ pollUs: -1 }, 'pollUs = -1'],
    [{ pollUs: 10_001 }, 'pollUs = 10001: must be an integer from 0 to 10000'],
  ])('%j are refused', (options, text) => {
    expect(() => new ZmtpTransport(options)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(text) as string }),
    );
  });
});
