/** What sockets do when the process runs out of memory: docs/protocols/zmtp.md, "Bounds in total". */
import { connect } from 'node:net';
import { MemoryBudget } from '@proj/transport';
import type { PortOptions } from '@proj/transport';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SPARE_MEMORY } from './fast.js';
import { ZmtpTransport } from './index.js';
import type { ConnectionFailure } from './index.js';
import { Pipe, SharedMessage } from './pipe.js';
import { CONNECTION_BYTES, Relief, slowest } from './relief.js';
import type { ReliefHost } from './relief.js';
import type { Connection } from './connection.js';
import type { SharedConnection } from './wire.js';
import { LIBZMQ, fromHex, wire } from './test/recorder.js';
import { TestPeer } from './test/test-peer.js';

const MIB = 2 ** 20;
const QUIET: PortOptions = { connectionHeartbeatMs: 0, lingerMs: 0 };

/** Spare memory from other tests of this process counts too. */
beforeAll(() => void SPARE_MEMORY.relieve());

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

async function router(memory: MemoryBudget, port: PortOptions = {}) {
  const failures: ConnectionFailure[] = [];
  const transport = new ZmtpTransport({ memory, onConnectionFailed: (failure) => void failures.push(failure) });
  const socket = transport.router({ ...QUIET, ...port });
  opened.push(socket);
  const endpoint = await socket.bind('tcp://127.0.0.1:*');
  return { endpoint, failures, socket, station: new TestPeer(socket) };
}

function stranger(endpoint: string, ...parts: readonly (string | Uint8Array)[]) {
  const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  for (const part of parts) socket.write(typeof part === 'string' ? fromHex(part) : part);
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

const named = (name: string) => [LIBZMQ.greeting, LIBZMQ.ready.replace(/37$/, Buffer.from(name).toString('hex'))];
const begun = (bytes: number): Buffer => {
  const header = Buffer.concat([Buffer.from([2]), Buffer.alloc(8)]);
  header.writeUIntBE(bytes, 3, 6);
  return header;
};

describe('a budget of memory', () => {
  it('counts connections from their start to their end', async () => {
    const memory = new MemoryBudget(64 * MIB);
    const { endpoint, station, socket } = await router(memory);
    const one = stranger(endpoint, ...named('1'), wire('1'));
    await station.received(1);
    expect(memory.heldBytes).toBe(CONNECTION_BYTES);
    one.socket.destroy();
    await station.until(() => station.gone.length === 1);
    expect(memory.heldBytes).toBe(0);
    await socket.close();
    expect(memory.heldBytes).toBe(0);
  });

  it('cuts the peer that does not read and holds most when it is full, and spares peers that hold little', async () => {
    const memory = new MemoryBudget(16 * MIB);
    const { endpoint, failures, station, socket } = await router(memory);
    for (const name of ['1', '2', '3']) stranger(endpoint, ...named(name), wire(name)).socket.pause();
    await station.received(3);
    const [greedy, modest] = station.messages.map(({ peer }) => peer);
    // More than the system buffers for a connection at once.
    for (let count = 0; count < 6; count++) socket.send(modest!, [new Uint8Array(MIB)]);
    for (let count = 0; count < 24 && failures.length === 0; count++) {
      socket.send(greedy!, [new Uint8Array(MIB)]);
      await new Promise(setImmediate);
    }
    await station.until(() => station.gone.length === 1);
    expect(failures.map(({ code }) => code)).toEqual(['memory']);
    expect(station.gone).toEqual([greedy!.key]);
    expect(memory.heldBytes).toBeLessThan(16 * MIB);
  });

  it('cuts unfinished messages when it is full, the longest idle first', async () => {
    const memory = new MemoryBudget(2 * MIB);
    const { endpoint, failures, station } = await router(memory, { maxMessageBytes: MIB });
    // An unfinished message has memory for all of it.
    const some = new Uint8Array(600_000);
    const first = stranger(endpoint, ...named('1'), wire('1'), begun(MIB), some);
    await station.received(1);
    stranger(endpoint, ...named('2'), wire('2'), begun(MIB), some);
    await station.received(2);
    await first.closed;
    expect(failures.map(({ code }) => code)).toEqual(['memory']);
    expect(memory.level).not.toBe('full');
  });

  it('frees the unfinished message of a cut connection at once, not at the next garbage collection', async () => {
    const memory = new MemoryBudget(1024 * MIB);
    const { endpoint, station } = await router(memory);
    const one = stranger(endpoint, ...named('1'), wire('1'), begun(64 * MIB));
    await station.received(1);
    for (let sent = 0; sent < 8; sent++) one.socket.write(new Uint8Array(MIB));
    // Only what has come counts, but there is memory for all of it.
    while (memory.heldBytes < 8 * MIB) await new Promise(setImmediate);
    const { arrayBuffers } = process.memoryUsage();
    one.socket.destroy();
    await station.until(() => station.gone.length === 1);
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(arrayBuffers - 32 * MIB);
  });

  it('reads nothing while it is full, even from new peers, and then continues where it stopped', async () => {
    const memory = new MemoryBudget(64 * MIB);
    let heldBytes = 0;
    memory.add({
      get heldBytes() {
        return heldBytes;
      },
    });
    const { endpoint, station } = await router(memory, { connectionHeartbeatMs: 20, connectionTimeoutMs: 60 });
    const one = stranger(endpoint, ...named('1'), wire('first'));
    await station.received(1);
    heldBytes = 64 * MIB;
    memory.look();
    one.socket.write(fromHex(wire('second')));
    const other = stranger(endpoint, ...named('2'), wire('third'));
    // Heartbeats are still sent; nobody is judged meanwhile.
    for (let signs = 0; signs < 12; signs++) await new Promise((resolve) => one.socket.once('data', resolve));
    expect(station.texts).toEqual(['first']);
    heldBytes = 0;
    memory.look();
    await station.received(3);
    expect([...station.texts].sort()).toEqual(['first', 'second', 'third']);
    expect([one.socket.destroyed, other.socket.destroyed]).toEqual([false, false]);
  });

  it('gives connections a quarter at most', async () => {
    const { endpoint, station } = await router(new MemoryBudget(8 * CONNECTION_BYTES));
    stranger(endpoint, ...named('1'), wire('1'));
    stranger(endpoint, ...named('2'), wire('2'));
    await station.received(2);
    await stranger(endpoint, ...named('3')).closed;
  });
});

describe('the peer to cut', () => {
  const link = (unreadBytes: number, writingSince: number | undefined, carrier?: SharedConnection) => ({
    unreadBytes,
    writingSince,
    carrier,
  });

  it('is the one with the most unread for the longest time, and never one without output', () => {
    const [much, long, short] = [link(64 * MIB, 999), link(MIB, 0), link(MIB, 900)];
    const links = [short, link(MIB, undefined), much, link(0, 0), long];
    expect(slowest(links, 1000, 'full')).toEqual([long, much, short]);
    expect(slowest(links, 1000, 'tight')).toEqual([long]);
  });

  it('is one with many lanes before one with less than they have together', () => {
    const carrier = { name: 'shared', outgoing: 16 * MIB };
    const lanes = [link(MIB, 900, carrier), link(2 * MIB, 800, carrier)];
    const [alone, much] = [link(15 * MIB, 900), link(17 * MIB, 800)];
    expect(slowest([alone, ...lanes, much], 1000, 'full')).toEqual([much, lanes[1], lanes[0], alone]);
  });
});

describe('a message that does not come to an end', () => {
  it('is cut while memory is tight when nothing came for a second, and at once when it is full', () => {
    const memory = new MemoryBudget(1000);
    const asked: number[] = [];
    const incoming = { relieve: (_: number, until: number) => (asked.push(until), 0), onProceed: () => undefined };
    const host = { watch: { now: () => 5000 }, incoming, heldBytes: 850 };
    const relief = new Relief(memory, host as unknown as ReliefHost, new Map());
    memory.look();
    host.heldBytes = 1000;
    memory.look();
    relief.leave();
    memory.look();
    expect(asked).toEqual([4000, 5000]);
  });
});

describe('a message in a pipe', () => {
  it('stays in its chunk if written at once, and is copied if it has to wait', () => {
    const part = () => [new Uint8Array(8192).subarray(0, 200)];
    const pipe = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 10_000 });
    pipe.attach({ wake: () => undefined } as unknown as Connection);
    pipe.push(part());
    expect(pipe.take(1000)[0]?.[0]?.buffer.byteLength).toBe(8192);
    pipe.push(part());
    pipe.landed();
    // With its length in front.
    expect(pipe.take(1000)[0]?.[0]?.buffer.byteLength).toBe(204);
    pipe.landed();
  });

  it('shares memory with others that wait, unless it is large', () => {
    const pipe = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 100_000 });
    for (const bytes of [100, 100, 100, 100, 5000, 5000]) pipe.push([new Uint8Array(8192).subarray(0, bytes)]);
    const [, , third, fourth, ...large] = pipe.take(100_000).map(([frame]) => frame?.buffer);
    expect([third === fourth, large.map((buffer) => buffer?.byteLength)]).toEqual([true, [8192, 8192]]);
  });

  it('that several pipes keep is copied once, and counts once until the last has written it', () => {
    const copies: number[] = [];
    const settle = (frame: Uint8Array) => (copies.push(frame.length), frame.slice());
    const outgoing = { bytes: 0, messages: 0, maxBytes: 2 ** 30, settle };
    const pipes = [1, 2, 3].map(() => new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 2 ** 30, outgoing }));
    const publish = (bytes: number): void => {
      const shared = new SharedMessage();
      const frames = [new Uint8Array(bytes)];
      for (const pipe of pipes) pipe.push(frames, shared);
    };
    publish(2 * MIB);
    publish(MIB);
    expect([copies, outgoing.bytes, outgoing.messages]).toEqual([[MIB], 3 * MIB, 6]);
    const [first, second, third] = pipes as [Pipe, Pipe, Pipe];
    const kept = pipes.map((pipe) => pipe.take(4 * MIB)[1]![0]);
    expect([kept[1] === kept[0], kept[2] === kept[0]]).toEqual([true, true]);
    first.landed();
    second.abandon();
    expect([first.bytes, second.bytes, third.bytes, outgoing.bytes]).toEqual([0, 0, 3 * MIB, 3 * MIB]);
    third.detach();
    expect([outgoing.bytes, outgoing.messages]).toEqual([0, 0]);
  });

  it('is copied once for several pipes even if it is small', () => {
    const pipes = [1, 2].map(() => new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 1000 }));
    const shared = new SharedMessage();
    for (const pipe of pipes) pipe.push([new Uint8Array(8192).subarray(0, 100)], shared);
    const [first, second] = pipes.map((pipe) => pipe.take(1000)[0]);
    expect(second === first).toBe(true);
  });

  it('counts once although a pipe is cut because of it', () => {
    let cut: Pipe | undefined;
    const memory = { moved: () => void cut?.abandon() };
    const outgoing = { bytes: 0, messages: 0, maxBytes: 2 ** 30, memory };
    const pipes = [1, 2, 3].map(() => new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 2 ** 30, outgoing }));
    for (cut of pipes) {
      const shared = new SharedMessage();
      for (const pipe of pipes) pipe.push([new Uint8Array(MIB)], shared);
      cut = undefined;
      for (const pipe of pipes) pipe.detach();
      expect([outgoing.bytes, outgoing.messages]).toEqual([0, 0]);
    }
  });

  it('is freed by the last pipe that keeps it, not by the first that is cut', () => {
    const outgoing = { bytes: 0, messages: 0, maxBytes: 2 ** 30 };
    const pipes = [1, 2].map(() => new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 2 ** 30, outgoing }));
    const shared = new SharedMessage();
    for (const pipe of pipes) pipe.push([new Uint8Array(MIB)], shared);
    expect(pipes.map((pipe) => pipe.abandon())).toEqual([0, MIB]);
  });

  it('is settled once a megabyte waits before it', () => {
    const settled: number[] = [];
    const settle = (frame: Uint8Array) => (settled.push(frame.length), frame.slice());
    const outgoing = { bytes: 0, messages: 0, maxBytes: 2 ** 30, settle };
    const pipe = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 2 ** 30, outgoing });
    pipe.attach({ wake: () => undefined } as unknown as Connection);
    for (const bytes of [MIB, 5001, 5002]) pipe.push([new Uint8Array(bytes)]);
    expect([pipe.take(1).length, settled]).toEqual([1, []]);
    pipe.push([new Uint8Array(5003)]);
    expect(settled).toEqual([5003]);
    pipe.landed();
    pipe.take(MIB);
    pipe.push([new Uint8Array(5004)]);
    expect(settled).toEqual([5003]);
  });
});
