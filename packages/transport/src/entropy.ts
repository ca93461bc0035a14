/** Randomness and the wall clock of this machine. */
import type { Entropy } from './engine/engine.js';

/** Milliseconds that the two clocks may be apart: the wall clock is read in whole ones. More is an adjustment. */
const TOLERANCE_MS = 1.5;

/** Both clocks were read at the same time if that took no longer, in milliseconds. */
const AT_ONCE_MS = 0.5;
/** How often that is tried. */
const TRIES = 10;

/** What the monotonic clock is behind the wall clock. */
let offsetMs = -Infinity;

/** The machine's own {@link Entropy}. */
export const systemEntropy: Entropy = {
  wallMicros: () => {
    let monotonicMs = performance.now();
    // The wall clock gives milliseconds, the monotonic one the finer part; where they disagree the wall clock is right.
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
 * Follows the wall clock if it was set, and returns the monotonic time. It was not set if the process merely had to wait between one clock and
 * the other: then time would go back once that is over.
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
