/** NORFAB under faults: see README.md of this folder. */
import { describe, expect, it } from 'vitest';
import { runSeed, seedsToRun } from './kit/seeds.js';
import { simulateNfp } from './nfp/simulate.js';

const PATTERN = 'simulation/nfp.test';
const SEEDS = seedsToRun(200);

describe('NORFAB survives its faults', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const { calls, answered } = await runSeed(seed, PATTERN, simulateNfp);
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(calls);
  });

  it.each(SEEDS.filter((seed) => SEEDS.length === 1 || seed % 40 === 0))('repeats seed %i exactly', async (seed) => {
    const first = await runSeed(seed, PATTERN, simulateNfp);
    expect(await runSeed(seed, PATTERN, simulateNfp)).toEqual(first);
  });
});
