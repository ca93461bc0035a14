/** Limits over all connections of a socket: docs/protocols/zmtp.md, "Bounds in total". */
import { connect } from 'node:net';
import type { PortOptions } from '@proj/transport';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ZmtpTransport } from './index.js';
import type { ConnectionFailure, ZmtpOptions } from './index.js';
import { Pipe } from './pipe.js';
import { LIBZMQ, fromHex, wire } from './test/recorder.js';
import { TestPeer } from './test/test-peer.js';

const TCP = 'tcp://127.0.0.1:*';
const MIB = 2 ** 20;
const QUIET: PortOptions = { connectionHeartbeatMs: 0, lingerMs: 0 };

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

/** A listening router, and the failures it reported. */
async function router(options: ZmtpOptions, port: PortOptions = {}) {
  const failures: ConnectionFailure[] = [];
  const transport = new ZmtpTransport({ ...options, onConnectionFailed: (failure) => void failures.push(failure) });
  const socket = transport.router({ ...QUIET, ...port });
  opened.push(socket);
  const endpoint = await socket.bind(TCP);
  return { endpoint, failures, socket, station: new TestPeer(socket) };
}

/** A connection that sends this and reads what arrives. */
function stranger(endpoint: string, ...parts: readonly (string | Uint8Array)[]) {
  const socket = connect(Number(/\d+$/.exec(endpoint)?.[0]), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  for (const part of parts) socket.write(typeof part === 'string' ? fromHex(part) : part);
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

const named = (name: string) => [LIBZMQ.greeting, LIBZMQ.ready.replace(/37$/, Buffer.from(name).toString('hex'))];

describe('bounds in total', () => {
  it('limit the connections per address, and allow another when one ends', async () => {
    const { endpoint, failures, station } = await router({ connectionsPerAddressMax: 2 });
    const first = stranger(endpoint, ...named('1'), wire('1'));
    await station.received(1);
    stranger(endpoint, ...named('2'), wire('2'));
    await station.received(2);
    await stranger(endpoint, ...named('3'), wire('3')).closed;
    expect(failures.map(({ code }) => code)).toEqual(['too-many']);
    first.socket.destroy();
    await station.until(() => station.gone.length === 1);
    stranger(endpoint, ...named('4'), wire('4'));
    await station.received(3);
    expect(station.texts).toEqual(['1', '2', '4']);
  });

  it('cut the oldest handshake when too many are under way, but no complete one', async () => {
    const { endpoint, failures, station } = await router({ handshakesMax: 2 });
    stranger(endpoint, ...named('1'), wire('1'));
    await station.received(1);
    const idle = [stranger(endpoint), stranger(endpoint)];
    await Promise.all(idle.map(({ socket }) => new Promise((resolve) => socket.once('data', resolve))));
    stranger(endpoint, ...named('2'), wire('2'));
    await station.received(2);
    await Promise.race(idle.map(({ closed }) => closed));
    expect(failures.map(({ code }) => code)).toEqual(['too-many']);
  });

  it('cut the longest idle unfinished message, and report what is held', async () => {
    const { endpoint, failures, station, socket } = await router({ unfinishedMaxBytes: MIB }, { maxMessageBytes: MIB });
    const begun = Buffer.concat([Buffer.from([2]), Buffer.alloc(8)]);
    begun.writeUIntBE(MIB, 3, 6);
    const some = new Uint8Array(600_000);
    const parked = [];
    // An unfinished message has memory for all of it.
    for (const name of ['1', '2', '3']) parked.push(stranger(endpoint, ...named(name), begun, some));
    await Promise.race(parked.map(({ closed }) => closed));
    expect(failures.map(({ code }) => code)).toEqual(['too-large']);
    expect(socket.heldBytes).toBe(2 * MIB);
    for (const one of parked) one.socket.end(some.subarray(0, MIB - 600_000));
    await station.received(2);
    expect(socket.heldBytes).toBe(0);
  });

  it('leave room for others, however much is queued for peers that do not read', async () => {
    const limits = { unreadMaxBytes: 8 * MIB };
    const { endpoint, station, socket } = await router(limits, { queueMaxBytes: MIB, peerQueueMax: 0 });
    const body = new Uint8Array(MIB);
    const deaf = ['1', '2', '3'];
    for (const name of deaf) stranger(endpoint, ...named(name), wire(name)).socket.pause();
    await station.received(deaf.length);
    for (let round = 0; round < 100; round++)
      for (const { peer } of station.messages.slice(0, deaf.length)) socket.send(peer, [body]);
    expect(socket.heldBytes).toBeLessThanOrEqual(9 * MIB);
    expect(station.undeliverable.length).toBeGreaterThan(200);
    const reader = stranger(endpoint, ...named('4'), wire('4')).socket;
    await station.received(deaf.length + 1);
    const refused = station.undeliverable.length;
    socket.send(station.messages.at(-1)!.peer, [Buffer.from('for you')]);
    await new Promise<void>((resolve) => reader.on('data', (chunk: Buffer) => chunk.includes('for you') && resolve()));
    expect(station.undeliverable.length).toBe(refused);
  });

  it('leave room for one message to a peer that reads, whatever others hold', () => {
    const outgoing = { bytes: 0, messages: 0, maxBytes: 100 };
    const limits = { highWaterMark: 10, peerQueueMaxBytes: 1000, outgoing };
    const deaf = [new Pipe(false, limits), new Pipe(false, limits)];
    for (const pipe of deaf) {
      expect(pipe.hasRoom).toBe(true);
      pipe.push([new Uint8Array(90)]);
    }
    const reader = new Pipe(false, limits);
    for (let message = 0; message < 3; message++) {
      expect(reader.hasRoom).toBe(true);
      reader.push([new Uint8Array(10)]);
      expect(reader.hasRoom).toBe(false);
      reader.take(10);
      expect(reader.hasRoom).toBe(false);
      reader.landed();
    }
    expect(outgoing).toMatchObject({ bytes: 180, messages: 2 });
  });

  it('free the messages of a pipe whose connection has ended', () => {
    const outgoing = { bytes: 0, messages: 0, maxBytes: 100 };
    const pipe = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 1000, outgoing });
    const other = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 1000, outgoing });
    while (pipe.hasRoom) pipe.push([new Uint8Array(10)]);
    expect(outgoing.bytes).toBe(50);
    while (other.hasRoom) other.push([new Uint8Array(10)]);
    expect(outgoing.bytes).toBe(80);
    pipe.take(20);
    pipe.detach();
    expect(outgoing.bytes).toBe(30);
    other.take(1000);
    other.landed();
    expect(outgoing.bytes).toBe(0);
  });
});
