/** The example protocol of docs/ADD-A-PROTOCOL.md: it works, it survives faults, and it is short. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { runSeed, seedsToRun } from '../simulation/kit/seeds.js';
import { LEGALITY as BROKER } from './broker.js';
import { LEGALITY as CLIENT } from './client.js';
import { simulateTiny } from './simulation/simulate.js';
import { LEGALITY as WORKER } from './worker.js';

const PATTERN = 'example/tiny';
const SEEDS = seedsToRun(200);

describe('TINY/1 survives its faults', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const { calls, answered } = await runSeed(seed, PATTERN, simulateTiny);
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(calls);
  });

  it.each(SEEDS.filter((seed) => SEEDS.length === 1 || seed % 40 === 0))('repeats seed %i exactly', async (seed) => {
    const first = await runSeed(seed, PATTERN, simulateTiny);
    expect(await runSeed(seed, PATTERN, simulateTiny)).toEqual(first);
  });
});

it('broker, worker and client have at most 250 lines in all', () => {
  const lines = ['broker.ts', 'worker.ts', 'client.ts'].map(
    (file) => readFileSync(new URL(file, import.meta.url), 'utf8').split('\n').length - 1,
  );
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(250);
});

checkDiagrams(fileURLToPath(new URL('../../docs/ADD-A-PROTOCOL.md', import.meta.url)), {
  'a peer at the broker': {
    table: BROKER,
    initial: 'stranger',
    moves: [
      ['idle', 'request sent', 'busy'],
      [['idle', 'busy'], 'silent or gone', 'stranger'],
    ],
  },
  'a worker': {
    table: WORKER,
    initial: 'idle',
    moves: [
      ['busy', 'answered', 'idle'],
      [['idle', 'busy'], 'drain', 'leaving'],
    ],
  },
  'a request at the client': {
    table: CLIENT,
    initial: 'open',
    moves: [['open', 'timeout or lost connection', 'over']],
  },
});
