/** EventMQ under faults: see README.md of this folder. */
import { describe, expect, it } from 'vitest';
import { simulateEmqp } from './emqp/simulate.js';
import { runSeed, seedsToRun } from './kit/seeds.js';

const PATTERN = 'simulation/emqp.test';
const SEEDS = seedsToRun(200);

describe('EventMQ survives its faults', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const { calls, answered, ticks } = await runSeed(seed, PATTERN, simulateEmqp);
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(calls);
    expect(ticks).toBeGreaterThan(0);
  });

  it.each(SEEDS.filter((seed) => SEEDS.length === 1 || seed % 40 === 0))('repeats seed %i exactly', async (seed) => {
    const first = await runSeed(seed, PATTERN, simulateEmqp);
    expect(await runSeed(seed, PATTERN, simulateEmqp)).toEqual(first);
  });
});
