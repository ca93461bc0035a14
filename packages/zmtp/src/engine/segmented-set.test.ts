import { expect, it } from 'vitest';
import { SegmentedSet } from './segmented-set.js';

it('holds what was added and not removed, across segments', () => {
  const set = new SegmentedSet<number>();
  for (let value = 0; value < 10_000; value++) set.add(value);
  expect([set.delete(0), set.delete(0), set.delete(9999), set.delete(10_000)]).toEqual([true, false, true, false]);
  expect([...set].sort((a, b) => a - b)).toEqual(Array.from({ length: 9998 }, (_, index) => index + 1));
});

it('fills the room that others left', () => {
  const set = new SegmentedSet<number>();
  for (let value = 0; value < 8192; value++) set.add(value);
  set.delete(5);
  set.add(8192);
  expect([...set].indexOf(8192)).toBe(4095);
});

it('lets values be removed while it is read', () => {
  const set = new SegmentedSet<number>();
  for (let value = 0; value < 9000; value++) set.add(value);
  let read = 0;
  for (const value of set) {
    set.delete(value);
    read++;
  }
  expect([read, [...set]]).toEqual([9000, []]);
});
