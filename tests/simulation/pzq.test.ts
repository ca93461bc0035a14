/** PZQ under faults: see README.md of this folder. */
import { describe, expect, it } from 'vitest';
import { runSeed, seedsToRun } from './kit/seeds.js';
import { simulatePzq } from './pzq/simulate.js';

const PATTERN = 'simulation/pzq';
const SEEDS = seedsToRun(200);

describe('PZQ survives its faults', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const { sent, stored, handled } = await runSeed(seed, PATTERN, simulatePzq);
    expect(handled).toBeGreaterThan(0);
    expect(stored).toBeLessThanOrEqual(sent);
  });

  it.each(SEEDS.filter((seed) => SEEDS.length === 1 || seed % 40 === 0))('repeats seed %i exactly', async (seed) => {
    const first = await runSeed(seed, PATTERN, simulatePzq);
    expect(await runSeed(seed, PATTERN, simulatePzq)).toEqual(first);
  });
});
