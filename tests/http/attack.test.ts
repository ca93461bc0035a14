/** Attacks on the HTTP server: each one is refused or bounded, and the broker still answers. */
import { expect, it } from 'vitest';
import { besieged } from './besieged.js';

it('refuses or bounds every attack while the service is served', async () => {
  await using service = await besieged();
  const attacking = service.attack(150, 0);
  await service.ask(50);
  const { outcomes, over } = await attacking;
  await over;
  const { streams = {}, slow, ...others } = outcomes;
  expect(others).toEqual({
    noToken: { 401: 20 },
    wrongToken: { 401: 10, 429: 10 },
    traversal: { 400: 1, 404: 5 },
    hugeHeader: { 431: 1 },
    // The token is checked before the body is read.
    hugeBody: { 401: 1 },
  });
  // The rest are refused with 503, or cut if there are too many connections.
  expect([streams['200'], streams['open']]).toEqual([64, undefined]);
  expect(slow).not.toHaveProperty('200');
  expect(await service.isAlive()).toBe(true);
});
