import { describe, expect, it } from 'vitest';
import { BoundedBuffer } from './bounded-buffer.js';

const item = (value: number) => ({ done: false, value });
const DONE = { done: true, value: undefined };

/** All that can be read from a buffer that has ended. */
async function rest(buffer: BoundedBuffer<number>): Promise<number[]> {
  const read: number[] = [];
  for (let next = await buffer.next(); next.done !== true; next = await buffer.next()) read.push(next.value);
  return read;
}

describe('a bounded buffer', () => {
  it('refuses an item too many until one is read', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 2, bytesMax: 100 });
    expect([1, 2, 3].map((value) => buffer.offer(value, 1))).toEqual([true, true, false]);
    expect(await buffer.next()).toEqual(item(1));
    expect(buffer.offer(4, 1)).toBe(true);
  });

  it('refuses too many bytes, but takes a single item of any size', () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 10, bytesMax: 10 });
    expect(buffer.offer(1, 50)).toBe(true);
    expect(buffer.offer(2, 1)).toBe(false);
    buffer.clear();
    expect([4, 6, 1].map((bytes) => buffer.offer(bytes, bytes))).toEqual([true, true, false]);
  });

  it('drops the oldest items to make room where the sender asks for it, and reports how many', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 3, bytesMax: 10 });
    expect([1, 2, 3].map((value) => buffer.displace(value, 3))).toEqual([0, 0, 0]);
    expect(buffer.displace(4, 3)).toBe(1);
    expect(buffer.displace(5, 6)).toBe(2);
    expect(buffer.displace(6, 50)).toBe(2);
    buffer.end();
    expect(await rest(buffer)).toEqual([6]);
  });

  it('gives an item to the reader that has waited longest, whatever its size', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 1, bytesMax: 1 });
    const readers = [buffer.next(), buffer.next()];
    expect([1, 2, 3].map((value) => buffer.offer(value, 9))).toEqual([true, true, true]);
    expect(await Promise.all(readers)).toEqual([item(1), item(2)]);
    expect(buffer.offer(4, 9)).toBe(false);
  });

  it('lets the waiting items be read after the end, and takes nothing more', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 2, bytesMax: 9 });
    buffer.offer(1, 1);
    buffer.end();
    expect([buffer.offer(2, 1), buffer.displace(3, 1), buffer.over]).toEqual([false, 0, true]);
    expect(await rest(buffer)).toEqual([1]);
  });

  it('rejects one read with the error it ends with, after the waiting items', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 2, bytesMax: 9 });
    const error = new Error('broken');
    buffer.offer(1, 1);
    buffer.end({ error });
    expect(await buffer.next()).toEqual(item(1));
    await expect(buffer.next()).rejects.toBe(error);
    expect(await buffer.next()).toEqual(DONE);
  });

  it('rejects the reader that has waited longest, and ends for the others; a later end changes nothing', async () => {
    const buffer = new BoundedBuffer<number>({ itemsMax: 2, bytesMax: 9 });
    const [first, second] = [buffer.next(), buffer.next()];
    buffer.end({ error: 'gone' });
    buffer.end({ error: 'again' });
    await expect(first).rejects.toBe('gone');
    expect([await second, await buffer.next()]).toEqual([DONE, DONE]);
  });
});
