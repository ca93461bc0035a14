/** Randomness and the wall clock of this machine. */
import type { Entropy } from './engine/engine.js';

/** Largest difference between the two clocks that is rounding, because the wall clock has whole milliseconds. More is an adjustment. */
const TOLERANCE_MS = 1.5;

/** Both clocks were read simultaneously if it took no longer than this. Milliseconds. */
const AT_ONCE_MS = 0.5;
/** Number of attempts. */
const TRIES = 10;

/** Wall clock minus monotonic clock. */
let offsetMs = -Infinity;

/** The machine's own {@link Entropy}. */
export const systemEntropy: Entropy = {
  wallMicros: () => {
    let monotonicMs = performance.now();
    // The wall clock gives the milliseconds, the monotonic one the finer part. If they disagree, the wall clock is right.
    if (isApart(Date.now(), monotonicMs)) monotonicMs = adjust();
    return Math.floor((monotonicMs + offsetMs) * 1000);
  },
  uuid: () => crypto.randomUUID(),
  random: () => Math.random(),
};

function isApart(wallMs: number, monotonicMs: number): boolean {
  return Math.abs(monotonicMs + offsetMs - wallMs) > TOLERANCE_MS;
}

/**
 * Follows the wall clock if it was set, and returns the monotonic time. A pause of the process between the two readings does not count as
 * setting: otherwise time would go back afterwards.
 */
function adjust(): number {
  let monotonicMs = 0;
  let wallMs = 0;
  for (let left = TRIES; left > 0; left--) {
    monotonicMs = performance.now();
    wallMs = Date.now();
    if (performance.now() - monotonicMs <= AT_ONCE_MS) break;
  }
  if (isApart(wallMs, monotonicMs)) offsetMs = wallMs - monotonicMs;
  return monotonicMs;
}
