/** Randomness and the wall clock of this machine. */
import { randomUUID } from 'node:crypto';
import type { Entropy } from '../engine.js';

/** Milliseconds that the two clocks may be apart: the wall clock is read in whole ones. More is an adjustment. */
const TOLERANCE_MS = 1.5;

/** What the monotonic clock is behind the wall clock. */
let offsetMs = -Infinity;

/** The machine's own {@link Entropy}. */
export const systemEntropy: Entropy = {
  wallMicros: () => {
    const [wallMs, monotonicMs] = [Date.now(), performance.now()];
    // The wall clock shows milliseconds, the monotonic one what is finer; of the two the wall clock is right.
    if (Math.abs(monotonicMs + offsetMs - wallMs) > TOLERANCE_MS) offsetMs = wallMs - monotonicMs;
    return Math.floor((monotonicMs + offsetMs) * 1000);
  },
  uuid: () => randomUUID(),
  random: () => Math.random(),
};
