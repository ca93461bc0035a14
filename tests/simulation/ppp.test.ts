/** Paranoid Pirate under faults: queues with Lazy Pirates in front, and pools. */
import { describe, expect, it } from 'vitest';
import { runSeed, seedsToRun } from './kit/seeds.js';
import { simulatePpp } from './ppp/simulate.js';

const PATTERN = 'simulation/ppp';
const SEEDS = seedsToRun(200);

describe('Paranoid Pirate survives its faults', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const { calls, answered } = await runSeed(seed, PATTERN, simulatePpp);
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(calls);
  });

  it.each(SEEDS.filter((seed) => SEEDS.length === 1 || seed % 40 === 0))('repeats seed %i exactly', async (seed) => {
    const first = await runSeed(seed, PATTERN, simulatePpp);
    expect(await runSeed(seed, PATTERN, simulatePpp)).toEqual(first);
  });
});
