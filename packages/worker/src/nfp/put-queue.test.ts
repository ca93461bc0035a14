import { describe, expect, it } from 'vitest';
import { PutQueue } from './put-queue.js';
import type { NfpPut } from './task.js';

const putOf = (bytes: number): NfpPut => ({ value: undefined, body: [Buffer.alloc(bytes)] });
const MIB = 1_048_576;

describe('waiting PUTs of a task', () => {
  it('rule 9: are limited in number', async () => {
    const queue = new PutQueue(2);
    expect([putOf(1), putOf(2), putOf(3)].map((put) => queue.push(put))).toEqual([true, true, false]);
    expect((await queue.next()).value?.body[0]).toHaveLength(1);
    expect(queue.push(putOf(4))).toBe(true);
  });

  it('rule 9: occupy at most 16 MiB besides the first, and that much again when they have been read', async () => {
    const queue = new PutQueue(64);
    expect(queue.push(putOf(20 * MIB))).toBe(true);
    expect(queue.push(putOf(1))).toBe(false);
    await queue.next();
    expect([10, 7, 6].map((mib) => queue.push(putOf(mib * MIB)))).toEqual([true, false, true]);
    await queue.next();
    expect(queue.push(putOf(7 * MIB))).toBe(true);
  });

  it('rule 9: go to a reader that already waits, and to nobody after the end', async () => {
    const queue = new PutQueue(1);
    const next = queue.next();
    expect(queue.push(putOf(5))).toBe(true);
    expect((await next).value?.body[0]).toHaveLength(5);
    expect(queue.push(putOf(6))).toBe(true);
    queue.end();
    expect(queue.push(putOf(7))).toBe(false);
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });
});
