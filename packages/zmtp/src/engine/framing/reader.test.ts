import { describe, expect, it, vi } from 'vitest';
import { FrameReader, READ_MAX_BYTES } from './reader.js';
import type { ReaderLimits } from './reader.js';
import { encodeMessages } from './writer.js';

const LIMITS = { maxMessageFrames: 10_000, maxMessageBytes: 2 ** 26, maxFrameBytes: 2 ** 26 };
const allocate = (bytes: number) => new Uint8Array(bytes);
const pattern = (length: number) => Uint8Array.from({ length }, (_, index) => index * 31 + (index >> 8));

function encoded(...messages: readonly Uint8Array[][]): Buffer {
  return Buffer.concat(encodeMessages(messages, allocate));
}

/** A reader that counts the memory it allocates. */
function counting(limits: ReaderLimits = LIMITS) {
  const sizes: number[] = [];
  const reader = new FrameReader(limits, (bytes) => {
    if (bytes > 0) sizes.push(bytes);
    return new Uint8Array(bytes);
  });
  reader.commandsOnly = false;
  return { reader, sizes };
}

describe('memory', () => {
  it('of a chunk is reclaimed when it has been read and no frame is a view of it', () => {
    const reclaimed: Uint8Array[] = [];
    const reader = new FrameReader(LIMITS, allocate, {
      lend: allocate,
      reclaim: (chunk) => void reclaimed.push(chunk),
      discard: () => undefined,
    });
    reader.commandsOnly = false;
    const small = Array.from({ length: 200 }, (_, index) => [pattern(index)]);
    for (const [chunk, isReclaimed] of [
      [encoded(...small), true],
      [encoded(...small, [pattern(9000)]), false],
      [encoded([pattern(9000)], ...small), false],
      [encoded(...small.slice(0, 20)), false],
      [encoded(...small, [pattern(100_000)]).subarray(0, 60_000), true],
    ] as const) {
      reclaimed.length = 0;
      reader.push(chunk);
      while (reader.next() !== undefined) {
        reader.takeFrames();
        expect(reclaimed).toEqual([]);
      }
      expect(reclaimed.includes(chunk)).toBe(isReclaimed);
    }
  });

  it('of an unfinished message is discarded; that of a delivered one is not', () => {
    const discarded: Uint8Array[] = [];
    const reader = new FrameReader(LIMITS, allocate, {
      lend: allocate,
      reclaim: () => undefined,
      discard: (frames) => void discarded.push(...frames),
    });
    reader.commandsOnly = false;
    const [first, second] = [pattern(100_000), pattern(200_000)];
    const bytes = encoded([first], [first, second]);
    for (let at = 0; at < bytes.length - 50_000; at += 30_000) {
      reader.push(bytes.subarray(at, Math.min(at + 30_000, bytes.length - 50_000)));
      while (reader.next() !== undefined) reader.takeFrames();
    }
    reader.discard();
    expect(discarded.map(({ length }) => length)).toEqual([100_000, 200_000]);
    expect(discarded[0]).toEqual(first);
    expect(reader.unfinishedBytes).toBe(0);
    reader.discard();
    expect(discarded.length).toBe(2);
  });

  it.each([
    ['all small', new Array<number>(500).fill(100), 1.1],
    ['a large one after each few small ones', new Array<number[]>(8).fill([60, 200, 8000]).flat(), 1.1],
    ['of very different sizes', [60, 200, 8000, 100, 2100, 1900, 0, 1500, 3, 8191], 1.4],
  ])('for frames of a chunk is little more than their bytes: %s', (_, lengths, most) => {
    const { reader, sizes } = counting();
    const chunk = encoded(...lengths.map((length) => [pattern(length)]));
    for (let chunks = 0; chunks < 20; chunks++) {
      reader.push(chunk);
      for (const length of lengths) {
        reader.next();
        expect(reader.takeFrames()).toEqual([pattern(length)]);
      }
    }
    const bytes = sizes.reduce((sum, size) => sum + size);
    expect(bytes / (20 * chunk.length)).toBeLessThan(most);
  });

  it('is not allocated for frames of an ordinary chunk, which are views of it', () => {
    const { reader, sizes } = counting();
    const chunk = encoded([pattern(5), pattern(300)]);
    reader.push(chunk);
    expect(reader.next()).toBe('message');
    expect(reader.takeFrames().map(({ buffer }) => buffer)).toEqual([chunk.buffer, chunk.buffer]);
    expect(sizes).toEqual([]);
  });

  it('of a large chunk is kept alive by its large frames, not by small ones', () => {
    const { reader, sizes } = counting();
    const small = Array.from({ length: 500 }, () => [pattern(100)]);
    const chunk = Buffer.from(encoded([pattern(10_000)], ...small));
    reader.push(chunk);
    reader.next();
    expect(reader.takeFrames()[0]?.buffer).toBe(chunk.buffer);
    for (const _ of small) {
      expect(reader.next()).toBe('message');
      const [frame] = reader.takeFrames();
      expect(frame?.buffer.byteLength).toBeLessThanOrEqual(8192);
      expect(frame).toEqual(pattern(100));
    }
    // One copy of all small ones, and a second copy of what did not fit at the end of a block.
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1.1 * small.length * 102);
  });

  it('for a frame in pieces is as large as the frame', () => {
    const { reader, sizes } = counting();
    const body = pattern(200_000);
    const bytes = encoded([body]);
    for (let at = 0; at < bytes.length; at += 65_536) {
      reader.push(bytes.subarray(at, at + 65_536));
      if (at + 65_536 < bytes.length) expect(reader.next()).toBeUndefined();
    }
    expect(reader.next()).toBe('message');
    expect(Buffer.compare(reader.takeFrames()[0]!, body)).toBe(0);
    expect(sizes).toEqual([200_000]);
  });

  it('for a large frame grows with the bytes received, not with the announced size', () => {
    const { reader, sizes } = counting();
    const body = Buffer.alloc(20_000_000, pattern(1009));
    const bytes = encoded([body]);
    reader.push(bytes.subarray(0, 100));
    reader.next();
    expect(sizes).toEqual([2 ** 20]);
    for (let at = 100; at < bytes.length; at += 65_536) {
      reader.push(bytes.subarray(at, at + 65_536));
      const item = reader.next();
      expect(item).toBe(at + 65_536 < bytes.length ? undefined : 'message');
    }
    expect(Buffer.compare(reader.takeFrames()[0]!, body)).toBe(0);
    expect(sizes).toEqual([2 ** 20, 5 * 2 ** 20, 20_000_000]);
  });

  it('for a large frame that can grow in place is not copied, and is little more than what has come', () => {
    const memory = new Uint8Array(20_000_000);
    const sizes: number[] = [];
    const lend = (bytes: number): Uint8Array => (sizes.push(bytes), memory.subarray(0, bytes));
    const reader = new FrameReader(LIMITS, allocate, {
      lend,
      grow: (body, bytes) => (body.buffer === memory.buffer ? lend(bytes) : undefined),
      reclaim: () => undefined,
      discard: () => undefined,
    });
    reader.commandsOnly = false;
    const body = Buffer.alloc(memory.length, pattern(1009));
    const bytes = encoded([body]);
    for (let at = 0; at < bytes.length; at += 65_536) {
      reader.push(bytes.subarray(at, at + 65_536));
      reader.next();
      expect(sizes.at(-1)).toBeLessThanOrEqual(at + 65_536 + 2 ** 22);
    }
    const [frame] = reader.takeFrames();
    expect([frame?.buffer === memory.buffer, Buffer.compare(frame!, body), sizes[0]]).toEqual([true, 0, 2 ** 20]);
    expect(sizes.length).toBe(6);
  });

  it('counts as far as the frame has come', () => {
    const { reader } = counting();
    const bytes = encoded([pattern(9)], [pattern(500), Buffer.alloc(20_000_000)]);
    const before = encoded([pattern(9)], [pattern(500), Buffer.alloc(0)]).length - 2 + 9;
    reader.push(bytes.subarray(0, 1_000));
    expect([reader.next(), reader.takeFrames().length, reader.next()]).toEqual(['message', 1, undefined]);
    // Its first MiB is taken at once.
    expect(reader.unfinishedBytes).toBe(500 + 2 ** 20);
    for (let came = 1_000; came < 15_000_000; came += 65_536) {
      reader.push(bytes.subarray(came, came + 65_536));
      reader.next();
      expect(reader.unfinishedBytes).toBe(500 + Math.max(2 ** 20, came + 65_536 - before));
    }
  });

  it('that is spare counts at once, and is not taken later', () => {
    const asked: number[] = [];
    const lend = (bytes: number, whole: number): Uint8Array => {
      asked.push(whole);
      return new Uint8Array(whole === 4_000_000 ? whole : bytes);
    };
    const reader = new FrameReader(LIMITS, allocate, { lend, reclaim: () => undefined, discard: () => undefined });
    reader.commandsOnly = false;
    reader.push(encoded([Buffer.alloc(4_000_000)]).subarray(0, 100));
    expect([reader.next(), reader.unfinishedBytes]).toEqual([undefined, 4_000_000]);
    reader.discard();
    reader.push(encoded([Buffer.alloc(5_000_000)]).subarray(0, 2_000_000));
    expect([reader.next(), reader.unfinishedBytes]).toEqual([undefined, 2_000_000 - 9]);
    expect(asked).toEqual([4_000_000, 5_000_000, Infinity]);
  });

  it.each([
    ['the largest body', 0],
    ['the largest body, sealed', 33],
    ['a body of 128 MiB', 2 ** 27 - LIMITS.maxMessageBytes],
  ])('for %s is never copied in more than 5 MiB at a time', (_, overhead) => {
    const length = LIMITS.maxMessageBytes + overhead;
    const { reader, sizes } = counting({ ...LIMITS, maxMessageBytes: length, maxFrameBytes: length });
    const header = encoded([new Uint8Array(length)]).subarray(0, 9);
    reader.push(header);
    expect(reader.next()).toBeUndefined();
    const copied: number[] = [];
    const chunk = new Uint8Array(2 ** 18);
    for (let came = 0; came < length; came += chunk.length) {
      const grown = sizes.length;
      reader.push(chunk.subarray(0, length - came));
      reader.next();
      if (came > 0 && sizes.length > grown) copied.push(came);
    }
    expect(reader.takeFrames()[0]!.length).toBe(length);
    expect(copied.length).toBe(2);
    expect(Math.max(...copied)).toBeLessThanOrEqual(5 * 2 ** 20);
  });

  it('of a long body can be read into, without another copy and without losing the bytes after it', () => {
    const { reader, sizes } = counting();
    const bytes = encoded([pattern(100_000)], [pattern(3)]);
    reader.push(bytes.subarray(0, 1_000));
    expect(reader.next()).toBeUndefined();
    const room = reader.room!;
    expect(room.length).toBe(100_000 - (1_000 - 9));
    room.set(bytes.subarray(1_000, 50_000));
    const set = vi.spyOn(Uint8Array.prototype, 'set');
    reader.push(room.subarray(0, 49_000));
    expect([reader.next(), set.mock.calls.length]).toEqual([undefined, 0]);
    set.mockRestore();
    // Other memory works as well.
    reader.push(bytes.subarray(50_000, 60_000));
    reader.next();
    expect(reader.room?.length).toBe(100_009 - 60_000);
    reader.push(bytes.subarray(60_000));
    expect(reader.next()).toBe('message');
    const [body] = reader.takeFrames();
    expect([Buffer.compare(body!, pattern(100_000)), body?.buffer === room.buffer]).toEqual([0, true]);
    expect([reader.next(), reader.takeFrames(), reader.room]).toEqual(['message', [pattern(3)], undefined]);
    expect(sizes[0]).toBe(100_000);
  });

  it('of a very long body is read into in parts, so that others have their turn', () => {
    const { reader } = counting();
    const bytes = encoded([pattern(1_000_000)]);
    let came = 1_000;
    reader.push(bytes.subarray(0, came));
    reader.next();
    const rooms: number[] = [];
    for (let room = reader.room; room !== undefined; room = reader.room) {
      room.set(bytes.subarray(came, came + room.length));
      came += room.length;
      rooms.push(room.length);
      reader.push(room);
      reader.next();
    }
    expect(Buffer.compare(reader.takeFrames()[0]!, pattern(1_000_000))).toBe(0);
    expect(rooms).toEqual([READ_MAX_BYTES, READ_MAX_BYTES, READ_MAX_BYTES, 1_000_000 - 991 - 3 * READ_MAX_BYTES]);
  });

  it('cannot be read into for a short rest or a skipped message', () => {
    const { reader } = counting({ ...LIMITS, maxMessageBytes: 50_000 });
    reader.push(encoded([pattern(40_000)]).subarray(0, 30_000));
    expect([reader.next(), reader.room]).toEqual([undefined, undefined]);
    const other = counting({ ...LIMITS, maxMessageBytes: 50_000 }).reader;
    other.push(encoded([pattern(90_000)]).subarray(0, 100));
    expect([other.next(), other.next(), other.room]).toEqual(['too-large', undefined, undefined]);
  });

  it('is not allocated for a skipped message', () => {
    const { reader, sizes } = counting({ ...LIMITS, maxMessageBytes: 10 });
    const bytes = encoded([pattern(100_000), pattern(9)], [pattern(3)]);
    reader.push(bytes.subarray(0, 50_000));
    expect([reader.next(), reader.next()]).toEqual(['too-large', undefined]);
    reader.push(bytes.subarray(50_000));
    expect([reader.next(), reader.takeFrames(), sizes]).toEqual(['message', [pattern(3)], [3]]);
  });

  it('is not allocated for a message before READY', () => {
    const { reader, sizes } = counting();
    reader.commandsOnly = true;
    reader.push(encoded([pattern(1_000)]).subarray(0, 20));
    expect([reader.next(), reader.fault?.code, sizes]).toEqual([undefined, 'malformed', []]);
  });
});
