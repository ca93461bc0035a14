import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock, systemClock } from '@proj/heartbeat';
import { describe, expect, it, vi } from 'vitest';
import { MemoryBudget } from '../memory-budget.js';
import { resolvePortOptions } from '../port-options.js';
import { ZmqPort } from './port.js';
import type { ZmqSocket } from './socket.js';
import { errno, FakeSocket, fakePort, NOTICE, peer, textOf, turn } from './test/fake-socket.js';

const A = peer('a');
const B = peer('b');

function say(port: ZmqPort, to: typeof A, text: string): void {
  port.send(to, [Buffer.from(text)]);
}

describe('sending', () => {
  it('S1: never has two sends to one peer in flight', async () => {
    const { socket, port, journal } = fakePort();
    for (let index = 0; index < 3; index++) say(port, A, index.toString());
    say(port, B, '3');
    expect(socket.sent).toHaveLength(1);
    await socket.settleSend();
    expect(socket.sent).toHaveLength(2);
    await socket.settleSend();
    expect(socket.sent).toHaveLength(4);
    await socket.settleSend();
    await socket.settleSend();

    expect(socket.sent.map(([, body]) => String(body))).toEqual(['0', '1', '2', '3']);
    expect(journal.lines).toEqual([]);
  });

  it('S1: reports what the call itself throws as broken, and does not throw it at the sender', () => {
    const { socket, port, journal } = fakePort();
    socket.throwOnSend = errno('EBUSY');
    say(port, A, 'x');

    expect(journal.lines).toEqual(['broken EBUSY']);
    expect(port.pending).toBe(0);
  });

  it('S3: reports EHOSTUNREACH as unreachable and goes on with the next', async () => {
    const { socket, port, journal } = fakePort();
    say(port, A, '1');
    say(port, B, '2');
    await socket.settleSend('EHOSTUNREACH');

    expect(journal.lines).toEqual(['unreachable a 1']);
    expect(socket.sent.map((frames) => textOf(frames))).toEqual(['a,1', 'b,2']);
  });

  it('S6: takes EAGAIN as congestion of that peer alone and tries it again later', async () => {
    const { socket, port, journal, clock } = fakePort();
    say(port, A, '1');
    say(port, B, '2');
    await socket.settleSend('EAGAIN');
    await socket.settleSend();
    expect(port.pendingFor(A)).toBe(1);
    clock.advance(10);
    await socket.settleSend();

    expect(socket.sent.map((frames) => textOf(frames))).toEqual(['a,1', 'b,2', 'a,1']);
    expect([port.pending, journal.lines]).toEqual([0, []]);
  });

  it('tries a congested peer again when it sends something, but not within 10 ms of a refusal', async () => {
    const { socket, port, clock } = fakePort();
    say(port, A, '1');
    await socket.settleSend('EAGAIN');
    await socket.deliver('a', 'x');
    expect(socket.sent).toHaveLength(1);
    clock.advance(10);
    await socket.settleSend('EAGAIN');
    // The next attempt by time is after 20 ms.
    clock.advance(10);
    await socket.deliver('b', 'x');
    // After so long, the reader lets others run first.
    await turn();
    expect(socket.sent).toHaveLength(2);
    await socket.deliver('a', 'x');

    expect(socket.sent.map((frames) => textOf(frames))).toEqual(['a,1', 'a,1', 'a,1']);
  });

  it('S7: passes on the very frames, after the routing id', () => {
    const { socket, port } = fakePort();
    const frames = [Buffer.from('x'), Buffer.alloc(1_000)];
    port.send(A, frames);

    expect(socket.sent[0]).toHaveLength(3);
    expect(socket.sent[0]?.[0]).toBe(A.id);
    expect(socket.sent[0]?.[1]).toBe(frames[0]);
    expect(socket.sent[0]?.[2]).toBe(frames[1]);
  });

  it('reports any other outcome as broken, once, and sends nothing more', async () => {
    const { socket, port, journal } = fakePort();
    say(port, A, '1');
    say(port, A, '2');
    await socket.settleSend('ENOTSOCK');
    say(port, A, '3');
    socket.failReceive('ENOTSOCK');
    await turn();

    expect(journal.lines).toEqual(['broken ENOTSOCK']);
    expect([socket.sent.length, port.pending]).toEqual([1, 0]);
  });
});

describe('receiving', () => {
  it('R1: never has two receives in flight', async () => {
    const { socket, journal } = fakePort();
    await socket.deliver('a', '1');
    await socket.deliver('a', '2');

    expect(journal.lines).toEqual(['message a 1', 'message a 2']);
    expect(socket.receives).toBe(3);
  });

  it('R2: takes EAGAIN of a closed socket as the end, and of an open one as a failure', async () => {
    const closed = fakePort();
    await closed.port.close();
    const broken = fakePort();
    broken.socket.failReceive('EAGAIN');
    await turn();

    expect([closed.journal.lines, broken.journal.lines]).toEqual([[], ['broken EAGAIN']]);
  });

  it('R3: ends silently when it is closed from inside a call, with or without a message in flight', async () => {
    const { socket, journal, port, clock } = fakePort();
    journal.onEach = (from) => {
      port.send(from, [Buffer.from('answer')]);
      void port.close();
      port.send(from, [Buffer.from('too late')]);
    };
    await socket.deliver('a', '1');
    clock.advance(1000);
    await port.close();
    await socket.settleSend('EBADF');

    expect(journal.lines).toEqual(['message a 1']);
    expect(socket.sent.map((frames) => textOf(frames))).toEqual(['a,answer']);
    expect([socket.closed, clock.armed, socket.receives]).toEqual([true, 0, 1]);
  });

  it('R3: drops a message that comes after close', async () => {
    const { socket, journal, port } = fakePort();
    port.send(A, [Buffer.from('pending')]);
    const closing = port.close();
    await socket.deliver('a', 'late');
    await socket.settleSend();
    await closing;

    expect(journal.lines).toEqual([]);
  });

  it('R4: yields to the event loop after 64 messages', async () => {
    const { socket, journal } = fakePort();
    socket.endless = () => [Buffer.from('a'), Buffer.from('x')];
    const counts: number[] = [];
    const look = (): void => {
      counts.push(journal.lines.length);
    };
    await socket.deliver('a', 'first');
    look();
    await turn();
    look();
    socket.close();

    expect(counts[0]).toBeLessThanOrEqual(64);
    expect((counts[1] ?? 0) - (counts[0] ?? 0)).toBeLessThanOrEqual(64);
  });

  it('R4: yields after 2 ms of work, however few the messages', async () => {
    const { socket, journal, clock } = fakePort();
    journal.onEach = () => {
      clock.advance(1);
    };
    socket.endless = () => [Buffer.from('a'), Buffer.from('x')];
    await socket.deliver('a', 'first');
    const before = journal.lines.length;
    await turn();
    const after = journal.lines.length;
    socket.close();

    expect([before, after - before]).toEqual([2, 2]);
  });

  it('R7: counts frames and bytes over all frames, not only each', async () => {
    const { socket, journal } = fakePort({ maxMessageFrames: 2, maxMessageBytes: 4 });
    await socket.deliver('a', '', '', '');
    await socket.deliver('a', '123', '45');
    await socket.deliver('a', '12', '34');
    await socket.deliver('a');

    expect(journal.lines).toEqual([
      'rejected a too-many-frames',
      'rejected a too-large',
      'message a 12|34',
      'rejected a no-frames',
    ]);
  });

  it('P1: keys peers by bytes, so that ids that are not text stay distinct', async () => {
    const { socket, journal } = fakePort();
    await socket.deliver(Buffer.from([0xff]), '1');
    await socket.deliver(Buffer.from([0xfe]), '2');
    await socket.deliver(Buffer.from([0, 1, 0x80, 0]), '3');

    expect(journal.lines).toEqual(['message \xff 1', 'message \xfe 2', 'message \0\x01\x80\0 3']);
  });
});

describe('notices of lost connections', () => {
  it('P5: takes exactly the private notice as the end of a connection', async () => {
    const { socket, journal } = fakePort();
    await socket.deliver('a', NOTICE);

    expect(journal.lines).toEqual(['gone a']);
  });

  it.each([
    ['in two frames', [NOTICE, '']],
    ['after another frame', ['', NOTICE]],
    ['cut short', [NOTICE.subarray(1)]],
    ['with an extra byte', [Buffer.concat([NOTICE, Buffer.from('x')])]],
    ['with one bit changed', [Buffer.from('0123456789abcdeg')]],
  ])('P5: takes the notice %s as an ordinary message', async (_, frames) => {
    const { socket, journal } = fakePort();
    await socket.deliver('a', ...frames);

    expect(journal.lines).toHaveLength(1);
    expect(journal.lines[0]).toMatch(/^message a /);
  });

  it('reports what is parked for the peer before the notice', async () => {
    const { socket, journal, port, clock } = fakePort();
    say(port, A, '1');
    say(port, A, '2');
    await socket.settleSend('EAGAIN');
    await socket.deliver('a', NOTICE);

    expect(journal.lines).toEqual(['unreachable a 1', 'unreachable a 2', 'gone a']);
    expect(clock.armed).toBe(0);
  });
});

describe('closing', () => {
  it('sends what is pending first, and leaves libzmq the rest of the linger', async () => {
    const { socket, port, clock } = fakePort({ lingerMs: 1000 });
    say(port, A, '1');
    say(port, A, '2');
    const closing = port.close();
    await turn();
    expect(socket.closed).toBe(false);
    clock.advance(300);
    await socket.settleSend();
    await socket.settleSend();
    await closing;

    expect(socket.sent.map((frames) => textOf(frames))).toEqual(['a,1', 'a,2']);
    expect([socket.closed, socket.linger, clock.armed]).toEqual([true, 700, 0]);
  });

  it('waits until libzmq has sent what it was left with', async () => {
    const { socket, port } = fakePort({ lingerMs: 1000 });
    socket.lingers = true;
    say(port, A, '1');
    await socket.settleSend();
    const closed = vi.fn();
    const closing = port.close().then(closed);
    await turn();
    expect([socket.closed, closed.mock.calls.length]).toEqual([true, 0]);
    socket.letGo();
    await closing;
  });

  it('does not wait for libzmq without linger', async () => {
    const { socket, port } = fakePort({ lingerMs: 0 });
    socket.lingers = true;
    await port.close();
    expect(socket.closed).toBe(true);
  });

  it('L1: gives up at the linger, and leaves libzmq none', async () => {
    const { socket, port, clock, journal } = fakePort({ lingerMs: 1000 });
    say(port, A, '1');
    await socket.settleSend('EAGAIN');
    const closing = port.close();
    await turn();
    for (let step = 0; step < 20; step++) {
      clock.advance(50);
      await socket.settleSend('EAGAIN');
    }
    await closing;

    expect([socket.closed, socket.linger, clock.armed, port.pending]).toEqual([true, 0, 0, 0]);
    expect(journal.lines).toEqual([]);
  });

  it('discards what is pending when told not to linger', async () => {
    const { socket, port, clock } = fakePort({ lingerMs: 1000 });
    say(port, A, '1');
    say(port, A, '2');
    await port.close({ lingerMs: 0 });
    await socket.settleSend();

    expect([socket.sent.length, socket.linger, clock.armed]).toEqual([1, 0, 0]);
  });

  it.each([
    ['a TCP port', () => ({ host: '127.0.0.1', port: 0 })],
    ['a path', () => ({ path: join(tmpdir(), `port-test-${process.pid}`) })],
  ])('waits until libzmq has released %s', async (_, address) => {
    // Stands in for the listener of libzmq, which ends in its own time.
    const listener = createServer().listen(address());
    await once(listener, 'listening');
    const socket = new FakeSocket();
    const bound = listener.address();
    socket.lastEndpoint = typeof bound === 'string' ? `ipc://${bound}` : `tcp://127.0.0.1:${bound?.port ?? 0}`;
    const open = { socket: socket as unknown as ZmqSocket, goneNotice: undefined };
    const port = new ZmqPort(open, true, resolvePortOptions(), systemClock);
    await port.bind('tcp://127.0.0.1:*');
    const closed = vi.fn();
    const closing = port.close().then(closed);
    await once(listener, 'connection');
    await once(listener, 'connection');
    expect(socket.closed).toBe(true);
    expect(closed).not.toHaveBeenCalled();
    listener.close();
    await closing;
  });

  it('does not wait forever for an endpoint that somebody else has taken', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const socket = new FakeSocket();
    socket.lastEndpoint = `tcp://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const clock = new ManualClock();
    const open = { socket: socket as unknown as ZmqSocket, goneNotice: undefined };
    const port = new ZmqPort(open, true, resolvePortOptions(), clock);
    await port.bind('tcp://127.0.0.1:*');
    let checks = 0;
    listener.on('connection', () => checks++);
    const closed = vi.fn();
    void port.close().then(closed);
    // The last one may be accepted by the listener after it was answered.
    while (closed.mock.calls.length === 0 || checks < 100) {
      await turn();
      clock.advance(10);
    }
    expect(checks).toBe(100);
    listener.close();
  });

  it('does not wait for a socket that has failed', async () => {
    const { socket, port, clock } = fakePort();
    say(port, A, '1');
    await socket.settleSend('ENOTSOCK');
    await port.close();

    expect([socket.closed, clock.armed]).toEqual([true, 0]);
  });
});

it('treats a send before the start as a mistake of the caller', () => {
  const { socket } = fakePort();
  const open = { socket: socket as unknown as ZmqSocket, goneNotice: undefined };
  const port = new ZmqPort(open, true, resolvePortOptions(), new ManualClock());

  expect(() => {
    say(port, A, 'x');
  }).toThrow('send: call start() first');
  expect(socket.sent).toEqual([]);
});

describe('a budget of memory', () => {
  it('includes what waits here and what arrives, and while it is full nothing is read', async () => {
    const memory = new MemoryBudget(1000, new ManualClock());
    let other = 0;
    memory.add({
      get heldBytes() {
        return other;
      },
    });
    const { socket, port, journal } = fakePort({}, memory);
    say(port, A, '1');
    await socket.settleSend('EAGAIN');
    expect(memory.heldBytes).toBeGreaterThan(0);
    other = 1000;
    memory.look();
    expect(journal.lines).toEqual(['congested a 1']);
    expect(memory.heldBytes).toBe(1000);
    // One message was on its way.
    await socket.deliver('a', 'x');
    await socket.deliver('a', 'y');
    port.pause();
    port.resume();
    await turn();
    expect(journal.lines.filter((line) => line.startsWith('message'))).toHaveLength(1);
    other = 0;
    memory.look();
    await turn();
    await socket.deliver('a', 'z');
    expect(journal.lines.at(-1)).toBe('message a z');
    await port.close({ lingerMs: 0 });
    expect(memory.heldBytes).toBe(0);
  });
});
