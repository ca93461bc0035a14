import { describe, expect, it } from 'vitest';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

function queueOf(...values: string[]): { queue: RemovableQueue<string>; slots: QueueSlot<string>[] } {
  const queue = new RemovableQueue<string>();
  const slots = values.map((value) => new QueueSlot(value));
  for (const slot of slots) queue.push(slot);
  return { queue, slots };
}

describe('RemovableQueue', () => {
  it('is empty at first', () => {
    const queue = new RemovableQueue<string>();
    expect([queue.size, queue.first, queue.shift(), [...queue.values()]]).toEqual([0, undefined, undefined, []]);
  });

  it('keeps the order of arrival', () => {
    const { queue } = queueOf('a', 'b', 'c');
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual(['a', 'b', 'c', undefined]);
  });

  it.each([
    ['front', 0, ['b', 'c']],
    ['middle', 1, ['a', 'c']],
    ['back', 2, ['a', 'b']],
  ])('removes at the %s', (_where, index, rest) => {
    const { queue, slots } = queueOf('a', 'b', 'c');
    expect(queue.remove(slots[index]!)).toBe(true);
    expect([...queue.values()]).toEqual(rest);
    expect(queue.size).toBe(2);
  });

  it('appends behind the new last value after the last one was removed', () => {
    const { queue, slots } = queueOf('a', 'b');
    queue.remove(slots[1]!);
    queue.push(new QueueSlot('c'));
    expect([...queue.values()]).toEqual(['a', 'c']);
  });

  it('puts a slot that returns behind the others', () => {
    const { queue, slots } = queueOf('a', 'b', 'c');
    expect(queue.shift()).toBe('a');
    queue.push(slots[0]!);
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual(['b', 'c', 'a', undefined]);
  });

  it('ignores the removal of a slot that is in no queue', () => {
    const { queue } = queueOf('a');
    expect(queue.remove(new QueueSlot('b'))).toBe(false);
    expect(queue.size).toBe(1);
  });

  it('leaves slots of other queues alone', () => {
    const { queue } = queueOf('a');
    const other = queueOf('b');
    expect(queue.remove(other.slots[0]!)).toBe(false);
    expect([...other.queue.values()]).toEqual(['b']);
  });

  it('refuses a slot that is in a queue already, which would corrupt both', () => {
    const { slots } = queueOf('a');
    expect(() => {
      new RemovableQueue<string>().push(slots[0]!);
    }).toThrow('one queue only');
  });

  it('the slot reports whether it is in a queue', () => {
    const { queue, slots } = queueOf('a');
    expect(slots[0]!.taken).toBe(true);
    queue.shift();
    expect(slots[0]!.taken).toBe(false);
  });

  it('lets others leave while it is iterated, even all of many', () => {
    const { queue, slots } = queueOf('a', 'b', 'c', 'd', 'e');
    const seen: string[] = [];
    for (const value of queue.values()) {
      seen.push(value);
      if (value === 'b') for (const index of [0, 2, 4]) queue.remove(slots[index]!);
    }
    expect([seen, [...queue.values()]]).toEqual([
      ['a', 'b', 'd'],
      ['b', 'd'],
    ]);
    const many = queueOf(...Array.from({ length: 3000 }, () => 'x')).queue;
    let count = 0;
    for (const value of many.values()) for (count++; many.shift() === value;);
    expect([count, many.size]).toEqual([1, 0]);
  });

  it('allows removing the current value while iterating', () => {
    const { queue, slots } = queueOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const value of queue.values()) {
      seen.push(value);
      queue.remove(slots[seen.length - 1]!);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(queue.size).toBe(0);
  });

  it('does not grow if values leave while the first one stays', () => {
    const queue = new RemovableQueue<number>();
    queue.push(new QueueSlot(0));
    let behind = new QueueSlot(1);
    queue.push(behind);
    for (let n = 2; n <= 10_000; n++) {
      const next = new QueueSlot(n);
      queue.push(next);
      queue.remove(behind);
      behind = next;
    }
    expect([...queue.values()]).toEqual([0, 10_000]);
    expect(queue.room).toBeLessThanOrEqual(16);
  });

  it('frees its memory when the last of many values has left', () => {
    const { queue } = queueOf(...Array.from({ length: 5000 }, String));
    expect(queue.room).toBe(8192);
    while (queue.shift() !== undefined);
    expect(queue.room).toBe(0);
    queue.push(new QueueSlot('again'));
    expect(queue.shift()).toBe('again');
  });
});
