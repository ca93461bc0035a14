import { describe, expect, it } from 'vitest';
import { ExpiringMap } from './expiring-map.js';

function filled(): ExpiringMap<string, number> {
  const map = new ExpiringMap<string, number>(100);
  map.set('a', 1, 0);
  map.set('b', 2, 10);
  map.set('c', 3, 20);
  return map;
}

describe('ExpiringMap', () => {
  it('keeps values by key and forgets what is taken', () => {
    const map = filled();
    expect([map.size, map.get('b'), map.has('b')]).toEqual([3, 2, true]);
    expect([map.take('b'), map.take('b'), map.get('b'), map.has('b'), map.size]).toEqual([
      2,
      undefined,
      undefined,
      false,
      2,
    ]);
  });

  it('takes out what is due, and no more', () => {
    const map = filled();
    expect(map.takeAllDue(99)).toEqual([]);
    expect(map.takeAllDue(110)).toEqual([1, 2]);
    expect([map.size, map.deadline]).toEqual([1, 120]);
    expect(map.takeAllDue(120)).toEqual([3]);
    expect(map.deadline).toBe(Infinity);
  });

  it('takes out everything at the end of time', () => {
    const map = filled();
    expect([map.takeAllDue(Infinity), map.takeAllDue(Infinity)]).toEqual([[1, 2, 3], []]);
  });

  it('renews a value that is set again, and puts it behind the others', () => {
    const map = filled();
    map.set('a', 4, 30);
    expect([...map.values()]).toEqual([2, 3, 4]);
    expect([map.size, map.deadline]).toEqual([3, 110]);
  });

  it('is a queue, due or not', () => {
    const map = filled();
    expect([map.takeFirst(), map.takeFirst(), map.takeFirst(), map.takeFirst()]).toEqual([1, 2, 3, undefined]);
    expect(map.size).toBe(0);
  });

  it('extends everything by as long as the timer was late', () => {
    const map = filled();
    expect([map.takeAllDue(200, 50), map.deadline]).toEqual([[], 250]);
    expect([map.takeAllDue(249), map.takeAllDue(250)]).toEqual([[], [1, 2, 3]]);
  });
});
