/** libzmq sockets as peers: every pairing, both ways to connect, both transports. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownEndpoint } from '@proj/testkit';
import type { PortOptions, SocketPort } from '@proj/transport';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { ZmtpTransport } from './index.js';
import { ByteRelay } from './test/relay.js';
import { TestPeer } from './test/test-peer.js';
import { loadCurve } from './security.js';

beforeAll(loadCurve);

const transport = new ZmtpTransport();
const ENDPOINTS = [
  ['tcp', () => 'tcp://127.0.0.1:*'],
  ['ipc', () => `ipc://${join(tmpdir(), randomUUID())}`],
] as const;
const TCP = 'tcp://127.0.0.1:*';
/** Longer than a busy machine delays a live peer. */
const SILENCE_MS = 3_000;

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

function kept<Socket extends { close(): unknown }>(socket: Socket): Socket {
  opened.push(socket);
  return socket;
}

const router = (options: PortOptions = {}) => kept(transport.router({ lingerMs: 0, ...options }));
const dealer = (options: PortOptions = {}) => kept(transport.dealer({ lingerMs: 0, ...options }));

async function bound(socket: zmq.Router | zmq.Dealer | zmq.Reply, endpoint: string): Promise<string> {
  await socket.bind(endpoint);
  return socket.lastEndpoint!;
}

const text = (frames: readonly Buffer[]) => frames.map((frame) => frame.toString('latin1')).join('|');

describe.each(ENDPOINTS)('over %s', (_, endpoint) => {
  it('a DEALER of libzmq talks to a router under the name it chose', async () => {
    const port = router();
    const theirs = kept(new zmq.Dealer({ linger: 0, routingId: 'worker-7' }));
    theirs.connect(await port.bind(endpoint()));
    const ours = new TestPeer(port);
    await theirs.send(['hello', '', 'world']);
    expect(await ours.message(0)).toMatchObject({ peer: { key: 'worker-7' }, text: 'hello||world' });
    ours.say(ours.messages[0]!.peer, '|answer');
    expect(text(await theirs.receive())).toBe('|answer');
  });

  it('a dealer talks to a ROUTER of libzmq under the name it chose', async () => {
    const theirs = kept(new zmq.Router({ linger: 0 }));
    const port = dealer({ routingId: Buffer.from('worker-7') });
    port.connect(await bound(theirs, endpoint()));
    const ours = new TestPeer(port);
    ours.tell('hello||world');
    expect(text(await theirs.receive())).toBe('worker-7|hello||world');
    await theirs.send(['worker-7', '', 'answer']);
    expect((await ours.message(0)).text).toBe('|answer');
  });

  it('a ROUTER of libzmq connects to a dealer', async () => {
    const port = dealer({ routingId: Buffer.from('bound') });
    const theirs = kept(new zmq.Router({ linger: 0 }));
    theirs.connect(await port.bind(endpoint()));
    const ours = new TestPeer(port);
    ours.tell('hello');
    const [id, body] = await theirs.receive();
    expect(text([id!, body!])).toBe('bound|hello');
    await theirs.send([id!, 'answer']);
    expect((await ours.message(0)).text).toBe('answer');
  });

  it('a router connects to a DEALER of libzmq', async () => {
    const theirs = kept(new zmq.Dealer({ linger: 0 }));
    const port = router();
    port.connect(await bound(theirs, endpoint()));
    const ours = new TestPeer(port);
    await theirs.send('hello');
    const { peer } = await ours.message(0);
    ours.say(peer, 'answer');
    expect([text(await theirs.receive()), peer.id.length, peer.id[0]]).toEqual(['answer', 5, 0]);
  });

  it('a REQ of libzmq talks to a router, a dealer to a REP', async () => {
    const port = router();
    const request = kept(new zmq.Request({ linger: 0 }));
    request.connect(await port.bind(endpoint()));
    const ours = new TestPeer(port);
    ours.onEach = (peer, frames) => {
      ours.port.send(peer, frames);
    };
    await request.send('hello');
    expect([text(await request.receive()), ours.texts]).toEqual(['hello', ['|hello']]);

    const reply = kept(new zmq.Reply({ linger: 0 }));
    const asking = dealer();
    asking.connect(await bound(reply, endpoint()));
    const asks = new TestPeer(asking);
    asks.tell('|question');
    await reply.send(await reply.receive());
    expect((await asks.message(0)).text).toBe('|question');
  });

  it('large messages and messages of many frames pass unchanged, both ways', async () => {
    const port = router({ maxMessageFrames: 2_000 });
    const theirs = kept(new zmq.Dealer({ linger: 0 }));
    theirs.connect(await port.bind(endpoint()));
    const ours = new TestPeer(port);
    ours.onEach = (peer, frames) => {
      ours.port.send(peer, frames);
    };
    const large = Buffer.alloc(10_000_000, 'abcdefghijk');
    const many = Array.from({ length: 1_500 }, (_, index) => Buffer.alloc(index % 300, index));
    for (const frames of [[large], many, [Buffer.from('x'), large.subarray(1), Buffer.alloc(0)]]) {
      await theirs.send(frames);
      const back = await theirs.receive();
      expect([back.length, Buffer.compare(Buffer.concat(back), Buffer.concat(frames))]).toEqual([frames.length, 0]);
    }
  });
});

it('20,000 messages each way arrive in order', async () => {
  const count = 20_000;
  const port = router({ highWaterMark: 100, peerQueueMax: count });
  const theirs = kept(new zmq.Dealer({ linger: 0 }));
  theirs.connect(await port.bind(TCP));
  const ours = new TestPeer(port);
  ours.onEach = (peer, frames) => {
    ours.port.send(peer, frames);
  };
  const sending = (async () => {
    for (let number = 0; number < count; number++) await theirs.send(number.toString());
  })();
  for (let number = 0; number < count; number++) {
    const back = text(await theirs.receive());
    if (back !== number.toString()) expect(back).toBe(number.toString());
  }
  await sending;
  expect(ours.undeliverable).toEqual([]);
});

it('a DEALER of libzmq that does not read for a while gets everything in order', async () => {
  const port = router({ highWaterMark: 10, connectionHeartbeatMs: 0 });
  const theirs = kept(new zmq.Dealer({ linger: 0, receiveHighWaterMark: 10, routingId: 'slow' }));
  theirs.connect(await port.bind(TCP));
  const ours = new TestPeer(port);
  await theirs.send('hello');
  const { peer } = await ours.message(0);
  const body = Buffer.alloc(100_000);
  for (let number = 0; number < 400; number++) port.send(peer, [Buffer.from(number.toString()), body]);
  expect(port.pendingFor(peer)).toBeGreaterThan(0);
  for (let number = 0; number < 400; number++) expect((await theirs.receive())[0]!.toString()).toBe(number.toString());
  expect([port.pending, ours.undeliverable]).toEqual([0, []]);
});

describe('connections', () => {
  it('that end are reported at once: a DEALER of libzmq closes, a ROUTER of libzmq closes', async () => {
    const port = router();
    const theirDealer = kept(new zmq.Dealer({ linger: 0, routingId: 'leaver' }));
    theirDealer.connect(await port.bind(TCP));
    const ours = new TestPeer(port);
    await theirDealer.send('hello');
    await ours.received(1);
    theirDealer.close();
    await ours.until(() => ours.gone.length > 0);
    expect(ours.gone).toEqual(['leaver']);

    const theirRouter = kept(new zmq.Router({ linger: 0 }));
    const ourDealer = dealer();
    ourDealer.connect(await bound(theirRouter, TCP));
    const station = new TestPeer(ourDealer);
    station.tell('hello');
    await theirRouter.receive();
    theirRouter.close();
    await station.until(() => station.gone.length > 0);
    expect(station.gone).toEqual(['']);
  });

  it('are restored: to a restarted ROUTER of libzmq, and by a DEALER of libzmq to a restarted router', async () => {
    const first = kept(new zmq.Router({ linger: 0 }));
    const endpoint = await bound(first, await ownEndpoint());
    const port = dealer();
    port.connect(endpoint);
    const ours = new TestPeer(port);
    ours.tell('one');
    await first.receive();
    first.close();
    await ours.until(() => ours.gone.length > 0);
    const second = kept(new zmq.Router({ linger: 0 }));
    await bindWhenFree(second, endpoint);
    ours.tell('two');
    expect(text((await second.receive()).slice(1))).toBe('two');

    const before = router();
    const address = await before.bind(await ownEndpoint());
    const theirs = kept(new zmq.Dealer({ linger: 0 }));
    theirs.connect(address);
    const old = new TestPeer(before);
    await theirs.send('one');
    await old.received(1);
    await before.close();
    const after = router();
    await after.bind(address);
    const fresh = new TestPeer(after);
    // What it sends before it notices is lost with the old connection.
    while (fresh.messages.length === 0) {
      await theirs.send('two');
      await pause();
    }
    expect(fresh.texts[0]).toBe('two');
  });

  it('with a taken name stay with a live DEALER of libzmq, and go to a new one once it is gone', async () => {
    // Long enough for libzmq's thread to answer on a machine that is busy.
    const port = router({ handover: true, connectionHeartbeatMs: 250 });
    const relay = kept(await ByteRelay.to(await port.bind(TCP)));
    const ours = new TestPeer(port);
    const [first, second] = [1, 2].map(() => kept(new zmq.Dealer({ linger: 0, routingId: 'twin' }))) as [
      zmq.Dealer,
      zmq.Dealer,
    ];
    first.connect(relay.endpoint);
    await first.send('first');
    await ours.received(1);
    second.connect(relay.endpoint);
    await second.send('second');
    await relay.says('there', 'PONG', 3);
    expect([ours.texts, ours.gone]).toEqual([['first'], []]);
    first.close();
    await ours.received(2);
    expect([ours.texts, ours.gone]).toEqual([['first', 'second'], ['twin']]);
  });
});

describe('heartbeats', () => {
  it('of libzmq are answered, and libzmq answers ours', async () => {
    const port = router({ connectionHeartbeatMs: 50, connectionTimeoutMs: 30_000 });
    const relay = kept(await ByteRelay.to(await port.bind(TCP)));
    const theirs = kept(
      new zmq.Dealer({ linger: 0, heartbeatInterval: 50, heartbeatTimeout: 30_000, heartbeatTimeToLive: 30_000 }),
    );
    theirs.connect(relay.endpoint);
    const ours = new TestPeer(port);
    await relay.says('there', '\x04PING', 3);
    await relay.says('back', '\x04PONG', 3);
    await theirs.send('still here');
    expect((await ours.message(0)).text).toBe('still here');
  });

  it('detect a silent peer of libzmq, and libzmq detects ours', async () => {
    const port = router({ connectionHeartbeatMs: 50, connectionTimeoutMs: SILENCE_MS });
    const relay = kept(await ByteRelay.to(await port.bind(TCP)));
    const theirs = kept(new zmq.Dealer({ linger: 0, routingId: 'mute', reconnectInterval: -1 }));
    theirs.connect(relay.endpoint);
    const ours = new TestPeer(port);
    await theirs.send('hello');
    await ours.received(1);
    relay.freeze();
    await ours.until(() => ours.gone.length > 0);
    expect(ours.gone).toEqual(['mute']);

    const theirRouter = kept(new zmq.Router({ linger: 0, heartbeatInterval: 50, heartbeatTimeout: SILENCE_MS }));
    const second = kept(await ByteRelay.to(await bound(theirRouter, TCP)));
    const ourDealer = dealer({ connectionHeartbeatMs: 0 });
    ourDealer.connect(second.endpoint);
    const station = new TestPeer(ourDealer);
    station.tell('hello');
    await theirRouter.receive();
    second.freeze();
    await station.until(() => station.gone.length > 0);
    expect(station.gone).toEqual(['']);
  });

  it('keep an idle connection to a ROUTER of libzmq alive', async () => {
    const theirs = kept(new zmq.Router({ linger: 0, heartbeatInterval: 50, heartbeatTimeout: 30_000 }));
    const relay = kept(await ByteRelay.to(await bound(theirs, TCP)));
    const port: SocketPort = dealer({ connectionHeartbeatMs: 0 });
    port.connect(relay.endpoint);
    const ours = new TestPeer(port);
    await relay.says('there', '\x04PONG', 5);
    expect(ours.gone).toEqual([]);
  });
});

/** libzmq releases a port some time after `close`. */
async function bindWhenFree(socket: zmq.Router, endpoint: string): Promise<void> {
  for (;;) {
    try {
      await socket.bind(endpoint);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      await pause();
    }
  }
}

/** Between two attempts. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
