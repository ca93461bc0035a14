import { Deadline, DeadlineList } from '@proj/heartbeat';
import { expect, it } from 'vitest';
import { dueOf } from './due.js';

it('takes a slice at a time, in order, and leaves the rest for a moment later', () => {
  const list = new DeadlineList<number>(100);
  for (let value = 0; value < 150; value++) list.renew(new Deadline(value), 0);
  expect([...dueOf(list, 99)]).toEqual([]);
  const steps: [now: number, values: number[]][] = [];
  for (let now = list.deadline; now < Infinity; now = list.deadline) steps.push([now, [...dueOf(list, now)]]);
  expect(steps.map(([now, { length }]) => [now, length])).toEqual([
    [100, 64],
    [101, 64],
    [102, 22],
  ]);
  expect(steps.flatMap(([, values]) => values)).toEqual(Array.from({ length: 150 }, (_, value) => value));
});

it('takes fewer that count as many', () => {
  const list = new DeadlineList<number>(100);
  for (let value = 0; value < 10; value++) list.renew(new Deadline(value), 0);
  const steps: number[] = [];
  for (let now = list.deadline; now < Infinity; now = list.deadline) steps.push([...dueOf(list, now, () => 20)].length);
  expect(steps).toEqual([4, 4, 2]);
});
