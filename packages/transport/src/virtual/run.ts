/** Advances virtual time while promises run: how tests wait for something without waiting. */
import type { ManualClock } from '@proj/heartbeat';
import { macrotask } from './turn.js';

/** More events than this at one instant are an endless loop. */
const INSTANT_MAX = 100_000;

/** Returns a function that fires the next timer and lets all promise continuations run. It throws if time stands still. */
function stepper(clock: ManualClock): () => Promise<void> {
  let instant = clock.now();
  let events = 0;
  return async () => {
    clock.fireNext();
    events = clock.now() === instant ? events + 1 : 0;
    instant = clock.now();
    if (events > INSTANT_MAX)
      throw new Error(`time stands still at ${instant} ms: timers keep arming others that are due at once`);
    await macrotask();
  };
}

/**
 * Advances time by `ms`, event by event; after each, all ready promise continuations run. Deterministic unless something awaits real input or
 * output. Throws if timers that are due at once keep arming each other.
 */
export async function advance(clock: ManualClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  const step = stepper(clock);
  await macrotask();
  while (clock.nextDeadline <= until) await step();
  clock.advanceTo(until);
}

/**
 * Advances time, event by event, until the promise settles, and returns its outcome. Throws if nothing is left to happen, or after `limitMs` of
 * virtual time (default 10 minutes): either means that it waits for ever.
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
