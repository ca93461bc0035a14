import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Inlet } from './inlet.js';
import type { Taker } from './inlet.js';

let server: Server | undefined;
const inlets: Inlet[] = [];

afterEach(async () => {
  for (const inlet of inlets.splice(0)) inlet.destroy();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = undefined;
});

/** Both ends of a connection: who connected, and who accepted. */
async function pair(): Promise<[Inlet, Inlet]> {
  const accepted = new Promise<Inlet>((resolve) => {
    server = createServer((socket) => {
      resolve(Inlet.accept(socket));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server?.address() as AddressInfo;
  const one = Inlet.connect({ host: '127.0.0.1', port, noDelay: true });
  inlets.push(one, await accepted);
  return [one, await accepted];
}

/** Takes chunks; `enough` resolves once so many bytes have come. */
class Sink implements Taker {
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

function say(inlet: Inlet, ...texts: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    inlet.send(
      texts.map((text) => Buffer.from(text)),
      () => {
        resolve();
      },
    );
  });
}

describe('sockets that read into memory of ours', () => {
  it.each(['accepted', 'connected'])('give what was taken to the taker for good: %s', async (side) => {
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

  it('read into the room there is from the second read on', async () => {
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

  it('tell of the end, and are counted by their server', async () => {
    const [one, other] = await pair();
    const ended = new Promise((resolve) => other.once('end', resolve));
    const closed = new Promise((resolve) => server?.close(resolve));
    one.end();
    await ended;
    other.destroy();
    await closed;
    server = undefined;
  });
});
