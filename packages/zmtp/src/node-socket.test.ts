import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptSocket, connectSocket } from './fast.js';
import { HAS_INTERNALS } from './fast/internals.js';
import { isOn } from './fast/switch.js';
import type { NodeSocket } from './node-socket.js';
import type { ByteSink } from './wire.js';

let server: Server | undefined;
const sockets: NodeSocket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = undefined;
});

/** Node's own. */
function inside(wire: NodeSocket): Socket {
  return (wire as unknown as { socket: Socket }).socket;
}

/** Both ends of a connection: the connecting side and the accepting side. */
async function pair(): Promise<[NodeSocket, NodeSocket]> {
  const accepted = new Promise<NodeSocket>((resolve) => {
    server = createServer((socket) => {
      resolve(acceptSocket(socket));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server!.address() as AddressInfo;
  const one = connectSocket({ host: '127.0.0.1', port, noDelay: true });
  sockets.push(one, await accepted);
  if (inside(one).connecting) await new Promise((resolve) => inside(one).once('connect', resolve));
  return [one, await accepted];
}

/** Collects chunks; `enough` resolves once this many bytes have arrived. */
class Sink implements ByteSink {
  readonly chunks: Uint8Array[] = [];
  room: Uint8Array | undefined;
  onEach: (chunk: Uint8Array) => void = () => undefined;

  onBytes(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.onEach(chunk);
  }

  enough(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      let left = bytes;
      this.onEach = (chunk) => {
        left -= chunk.length;
        if (left <= 0) resolve();
      };
    });
  }
}

function say(socket: NodeSocket, ...texts: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    socket.send(
      texts.map((text) => Buffer.from(text)),
      () => {
        resolve();
      },
    );
  });
}

/** Resolves once the system has taken this output. */
function written(socket: NodeSocket, output: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.send([output], () => {
      resolve();
    });
  });
}

const PART = new Uint8Array(2 ** 20);

/** Sends until the system takes no more at once. Returns the number of parts, and the result of the last one. */
function fill(socket: NodeSocket): { readonly sent: number; readonly last: Promise<Error | null | undefined> } {
  for (let sent = 1; ; sent++) {
    const last = new Promise<Error | null | undefined>((resolve) => {
      socket.send([PART], resolve);
    });
    if (socket.hasUnsent) return { sent, last };
  }
}

describe('sockets', () => {
  it.each(['accepted', 'connected'])('hand their bytes to the sink for good: %s', async (side) => {
    const [one, other] = await pair();
    const [from, to] = side === 'accepted' ? [one, other] : [other, one];
    const sink = new Sink();
    to.feed(sink);
    for (const text of ['first', 'other']) {
      const came = sink.enough(5);
      await say(from, text.slice(0, 2), text.slice(2));
      await came;
    }
    expect(Buffer.concat(sink.chunks).toString()).toBe('firstother');
  });

  it.runIf(isOn('reading'))('read into the sink’s room from the second read on', async () => {
    const [one, other] = await pair();
    const sink = new Sink();
    other.feed(sink);
    const room = new Uint8Array(10);
    sink.room = room;
    let came = sink.enough(1);
    await say(one, 'a');
    await came;
    came = sink.enough(4);
    await say(one, 'body');
    await came;
    expect(sink.chunks.map(({ buffer }) => buffer === room.buffer)).toEqual([false, true]);
    expect(Buffer.from(room).toString()).toBe('body\0\0\0\0\0\0');
  });

  it('call back in order once the system has taken everything, even if not at once', async () => {
    const [one, other] = await pair();
    other.pause();
    const { sent, last } = fill(one);
    const sink = new Sink();
    other.feed(sink);
    const all = sink.enough(sent * PART.length + 1);
    other.resume();
    expect(await last).toBeUndefined();
    expect(one.hasUnsent).toBe(false);
    await say(one, '!');
    await all;
    expect(sink.chunks.at(-1)?.at(-1)).toBe('!'.charCodeAt(0));
  });

  it('call back with an error when they end before the system has taken everything', async () => {
    const [one, other] = await pair();
    other.pause();
    const { last } = fill(one);
    one.destroy();
    expect((await last)?.message).toBe('cut');
  });

  it.runIf(isOn('writing') && HAS_INTERNALS)('use memory again for the next output, on any socket', async () => {
    const [one, other] = await pair();
    for (const bytes of [10, 20, 2 ** 14, 2 ** 14 + 1, 100_000]) {
      const first = one.allocateOutput!(bytes);
      await written(one, first);
      const second = other.allocateOutput!(bytes);
      expect([first.length, second.length, second.buffer === first.buffer]).toEqual([bytes, bytes, true]);
      await written(other, second);
    }
    const { buffer } = one.allocateOutput!(10);
    await say(one, 'memory', 'of its own');
    expect(one.allocateOutput!(10).buffer).toBe(buffer);
  });

  it.runIf(isOn('writing') && HAS_INTERNALS)(
    'leave an output that waits its memory, and share none meanwhile',
    async () => {
      const [one, other] = await pair();
      other.pause();
      const sink = new Sink();
      other.feed(sink);
      let sent = 0;
      let last: Promise<void>;
      let output: Uint8Array;
      do {
        output = one.allocateOutput!(2 ** 14).fill((sent % 255) + 1);
        last = written(one, output);
        sent++;
      } while (!one.hasUnsent);
      const next = one.allocateOutput!(100);
      const elsewhere = other.allocateOutput!(100);
      expect([next, elsewhere].some(({ buffer }) => buffer === output.buffer)).toBe(false);
      expect(next.buffer === elsewhere.buffer).toBe(false);
      elsewhere.fill(0);
      next.fill(0);
      const all = sink.enough(sent * 2 ** 14);
      other.resume();
      await Promise.all([last, all]);
      const bytes = Buffer.concat(sink.chunks);
      expect(bytes.subarray(-(2 ** 14)).equals(Buffer.alloc(2 ** 14, ((sent - 1) % 255) + 1))).toBe(true);
      await written(one, next);
      expect(one.allocateOutput!(100).buffer).toBe(elsewhere.buffer);
    },
  );

  it.runIf(isOn('writing') && HAS_INTERNALS)('leave an output behind other bytes its memory', async () => {
    const [one, other] = await pair();
    other.pause();
    const sink = new Sink();
    other.feed(sink);
    while (!one.hasUnsent) one.write(PART);
    const output = one.allocateOutput!(100);
    const last = new Promise((resolve) => {
      one.send([Uint8Array.of(1), output], resolve);
    });
    const elsewhere = other.allocateOutput!(100);
    expect(elsewhere.buffer).not.toBe(output.buffer);
    other.resume();
    await last;
  });

  it('end when they cannot write, and report why', async () => {
    const [one] = await pair();
    const closed = new Promise<Error>((resolve) => inside(one).once('error', resolve));
    one.end();
    await new Promise((resolve) => inside(one).once('finish', resolve));
    const outcome = new Promise<Error | null | undefined>((resolve) => {
      one.send([Uint8Array.of(1)], resolve);
    });
    expect((await outcome)?.message).toMatch(/EPIPE|write after end/);
    expect(await closed).toBe(await outcome);
  });

  it('report the end, and are counted by their server', async () => {
    const [one, other] = await pair();
    const ended = new Promise((resolve) => inside(other).once('end', resolve));
    const closed = new Promise((resolve) => server?.close(resolve));
    one.end();
    await ended;
    other.destroy();
    await closed;
    server = undefined;
  });
});
