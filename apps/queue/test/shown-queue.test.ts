/** What the queue shows as its fault. */
import type { PzqServer } from '@proj/pzq';
import { expect, it } from 'vitest';
import { shownQueue } from '../src/shown-queue.js';

it('shows failed commits to every reader for some seconds, not only to the first', () => {
  let now = 1000;
  const stats = { storeState: 'open', counters: { commitsFailed: 0 } };
  const queue = { on: () => queue, stats: () => stats } as unknown as PzqServer;
  const { fault } = shownQueue(queue, 'orders', {}, () => now);
  expect(fault?.()).toBeUndefined();
  stats.counters.commitsFailed = 1;
  const failed = { code: 'the store refuses', text: 'it is retried until it works' };
  expect([fault?.(), fault?.()]).toEqual([failed, failed]);
  now += 4999;
  expect(fault?.()).toEqual(failed);
  now += 1;
  expect(fault?.()).toBeUndefined();
});
