/** Moving virtual time while promises get their turn: how tests wait for something without waiting. */
import type { ManualClock } from '@proj/heartbeat';
import { macrotask } from './turn.js';

/** More events than this at one instant are a loop that time does not get out of. */
const INSTANT_MAX = 100_000;

/** Returns what fires the next timer and lets all promise continuations run; it throws when time stands still. */
function stepper(clock: ManualClock): () => Promise<void> {
  let instant = clock.now();
  let events = 0;
  return async () => {
    clock.fireNext();
    events = clock.now() === instant ? events + 1 : 0;
    instant = clock.now();
    if (events > INSTANT_MAX)
      throw new Error(`time stands still at ${instant} ms: timers that are due at once arm others`);
    await macrotask();
  };
}

/**
 * Moves time by `ms`, one event after the other; after each, all promise continuations it made ready run. Deterministic as
 * long as nothing awaits real input or output. Throws when timers that are due at once arm each other without end.
 */
export async function advance(clock: ManualClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  const step = stepper(clock);
  await macrotask();
  while (clock.nextDeadline <= until) await step();
  clock.advanceTo(until);
}

/**
 * Moves time, event by event, until the promise settles, and passes on its outcome. Throws when nothing is left that
 * could happen, or when `limitMs` of virtual time (default 10 minutes) went by: both mean that it waits for ever.
 */
export async function settle<Value>(clock: ManualClock, promise: Promise<Value>, limitMs = 600_000): Promise<Value> {
  const end = clock.now() + limitMs;
  const state = { pending: true };
  const done = () => {
    state.pending = false;
  };
  promise.then(done, done);
  const step = stepper(clock);
  await macrotask();
  while (state.pending) {
    if (clock.nextDeadline === Infinity) throw new Error('the promise is pending and no timer is armed');
    if (clock.nextDeadline > end) throw new Error(`the promise is pending after ${limitMs} ms of virtual time`);
    await step();
  }
  return promise;
}
