import { expect, it } from 'vitest';
import { totalStats } from './shown-workers.js';

it('adds up the statistics of several workers, nested ones too; a worker without statistics adds nothing', () => {
  const worker = (stats: object | undefined) => ({
    start: () => Promise.resolve(),
    drain: () => Promise.resolve(),
    stats: () => stats,
  });
  const one = worker({ running: 1, counters: { requests: 2, dropped: { malformed: 1 } }, state: 'ready' });
  const other = worker({ running: 2, counters: { requests: 3, dropped: { expired: 4 } }, state: 'lost' });
  expect(totalStats([one, worker(undefined), other])).toEqual({
    running: 3,
    counters: { requests: 5, dropped: { malformed: 1, expired: 4 } },
    state: 'ready',
  });
});
