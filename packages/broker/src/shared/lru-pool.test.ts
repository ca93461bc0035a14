import { describe, expect, it } from 'vitest';
import { QueueSlot } from './removable-queue.js';
import { LruPool } from './lru-pool.js';

describe('LruPool', () => {
  const [a, b, c] = [new QueueSlot('a'), new QueueSlot('b'), new QueueSlot('c')];

  it('gives who has been idle longest', () => {
    const pool = new LruPool<string>();
    for (const link of [a, b, c]) pool.release(link);
    expect(pool.take()).toBe('a');
    pool.release(a);
    expect([pool.take(), pool.take(), pool.take(), pool.take()]).toEqual(['b', 'c', 'a', undefined]);
  });

  it('forgets who is removed', () => {
    const pool = new LruPool<string>();
    for (const link of [a, b, c]) pool.release(link);
    pool.remove(b);
    expect([...pool.values()]).toEqual(['a', 'c']);
    expect(pool.size).toBe(2);
    pool.take();
    pool.take();
  });

  it('ignores the removal of a busy one', () => {
    const pool = new LruPool<string>();
    pool.remove(a);
    expect(pool.size).toBe(0);
  });
});
