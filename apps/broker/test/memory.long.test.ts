/** Under attack, proj-broker stays within 1.3 times its memory budget plus its idle size: docs/adr/0026-one-budget-of-memory.md. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Programs } from '@proj/appkit/testing';
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';
import { afterEach, describe, expect, it } from 'vitest';

const MIB = 2 ** 20;
const BUDGET = 256 * MIB;
const ATTACK_MS = 15_000;

const programs = new Programs();
const sockets = new Set<Socket>();
let over = false;
afterEach(async () => {
  over = true;
  for (const socket of sockets) socket.destroy();
  await programs.end();
});

const GREETING = Buffer.alloc(64);
GREETING.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 1]);
GREETING.write('NULL', 12);

function frame(body: string | Uint8Array, flags: number): Buffer {
  const bytes = Buffer.from(body as Uint8Array);
  if (bytes.length < 256) return Buffer.concat([Buffer.from([flags, bytes.length]), bytes]);
  const head = Buffer.alloc(9);
  head[0] = flags | 2;
  head.writeBigUInt64BE(BigInt(bytes.length), 1);
  return Buffer.concat([head, bytes]);
}

const message = (...frames: (string | Uint8Array)[]): Buffer =>
  Buffer.concat(frames.map((body, index) => frame(body, index < frames.length - 1 ? 1 : 0)));
const request = (service: string, body: string | Uint8Array): Buffer => message('MDPC02', '\x01', service, body);
const READY = frame(Buffer.from('\x05READY\x0bSocket-Type\0\0\0\x06DEALER', 'latin1'), 4);

/**
 * A misbehaving peer that reconnects when it is cut. `say` returns what it writes, as fast as the socket accepts it.
 */
function peer(port: number, reads: boolean, say?: () => () => Uint8Array): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sockets.delete(socket);
    if (!over && say !== undefined) setTimeout(() => peer(port, reads, say), 100);
  });
  if (reads) socket.resume();
  socket.write(Buffer.concat([GREETING, READY]));
  if (say === undefined) return socket;
  const next = say();
  const talk = (): void => {
    for (let count = 0; count < 64 && !socket.destroyed; count++)
      if (!socket.write(next())) {
        socket.once('drain', talk);
        return;
      }
    if (!socket.destroyed) setImmediate(talk);
  };
  talk();
  return socket;
}

const ATTACKS: Record<string, (port: number) => void> = {
  'requests of 200 bytes for a service without workers, each before 8 kB of junk': (port) => {
    const small = Buffer.concat([request('nobody', Buffer.alloc(200)), message('junk', Buffer.alloc(8192))]);
    for (let count = 0; count < 20; count++) peer(port, true, () => () => small);
  },
  'listings of 10,000 names that are requested but not read': (port) => {
    for (let client = 0; client < 12; client++) {
      const socket = peer(port, true);
      for (let name = 0; name < 900; name++) socket.write(request(`${client}-${name}`.padEnd(200, 'x'), 'x'));
    }
    const many = Buffer.concat(Array.from({ length: 10 }, () => request('mmi.services', '')));
    for (let count = 0; count < 86; count++) peer(port, false, () => () => many);
  },
  'messages of 64 MiB, 40 at a time': (port) => {
    const chunk = Buffer.alloc(65_536);
    const head = Buffer.alloc(9);
    head[0] = 2;
    head.writeBigUInt64BE(BigInt(64 * MIB), 1);
    for (let count = 0; count < 40; count++)
      peer(port, true, () => {
        let sent = 0;
        return () => (sent++ === 0 ? head : chunk);
      });
  },
};

/** In bytes. */
function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

describe.runIf(process.platform === 'linux')('proj-broker with a memory budget', () => {
  it.each(Object.entries(ATTACKS))(
    'stays within it under %s',
    async (_name, attack) => {
      over = false;
      const flags = ['--only', 'mdp', '--mdp', 'tcp://127.0.0.1:*', '--memory-max', `${BUDGET}`];
      const broker = programs.start('broker', flags);
      const { endpoints, memoryMax, pid } = await broker.record('listening');
      const { mdp } = endpoints as { mdp: string };
      expect(memoryMax).toBe(BUDGET);
      await using worker = new MdpWorker({ service: 'echo', handler: ({ body }) => body, endpoints: [mdp] });
      await worker.start();
      await using client = new MdpClient({ endpoints: [mdp], timeoutMs: 60_000 });
      await client.request('echo', 'before');
      const idle = residentOf(pid as number);
      let peak = 0;
      attack(Number(/\d+$/.exec(mdp)?.[0]));
      const end = performance.now() + ATTACK_MS;
      let answered = 0;
      while (performance.now() < end) {
        await client.request('echo', 'during');
        answered++;
        peak = Math.max(peak, residentOf(pid as number));
      }
      over = true;
      for (const socket of sockets) socket.destroy();
      await client.request('echo', 'after');
      expect(peak).toBeLessThan(1.3 * BUDGET + idle);
      expect(answered).toBeGreaterThan(0);
    },
    120_000,
  );
});
