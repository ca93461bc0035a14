/** The HTTP server under attack by 1,000 event streams, twice. What it costs the service is measured by `npm run bench -- observe-attacked`. */
import { expect, it } from 'vitest';
import { besieged } from './besieged.js';

const ROUNDS = 2;
const SECONDS = 12;

it('opens 64 of 1,000 streams, refuses the others, and is free again afterwards', async () => {
  await using service = await besieged();
  for (let round = 0; round < ROUNDS; round++) {
    const { outcomes, over } = await service.attack(1000, SECONDS);
    const { streams = {} } = outcomes;
    const ends = Object.values(streams).reduce((total, count) => total + count, 0);
    expect([streams['200'], streams['open'], ends]).toEqual([64, undefined, 1000]);
    await service.ask(100);
    await over;
  }
  expect(await service.isAlive()).toBe(true);
});
