/** What has waited too long, a slice per step, so that no step takes long however much falls due at once. Knows no protocol. */
import type { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import { PAUSE_MS, SLICE } from './errands.js';

/** Takes what is due. If that is more than a slice, the rest falls due a moment later. `weigh`: as how many something counts. */
export function* dueOf<Value>(
  list: Pick<DeadlineList<Value> | DeadlineHeap<Value>, 'takeDue' | 'postpone'>,
  now: number,
  weigh: (value: Value) => number = () => 1,
): Generator<Value, void, void> {
  for (let left = SLICE; left > 0;) {
    const value = list.takeDue(now);
    if (value === undefined) return;
    left -= weigh(value);
    yield value;
  }
  list.postpone(PAUSE_MS, now);
}
