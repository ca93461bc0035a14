/** Randomness and the wall clock of this machine. */
import { randomUUID } from 'node:crypto';
import type { Entropy } from '../engine.js';

/** The machine's own {@link Entropy}. */
export const systemEntropy: Entropy = {
  // The resolution is one millisecond: nothing finer follows adjustments of the wall clock.
  wallMicros: () => Date.now() * 1000,
  uuid: () => randomUUID(),
  random: () => Math.random(),
};
