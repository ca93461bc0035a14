import { expect, it } from 'vitest';
import { Share, Shares } from './shares.js';

/** Takes one at a time until refused. */
function fill(shares: Shares, share: Share): number {
  while (shares.take(share, 1));
  return share.held;
}

it('gives three quarters to a single holder', () => {
  expect(fill(new Shares(10_000), new Share())).toBe(7500);
});

it('gives all of a small bound to a single holder', () => {
  expect(fill(new Shares(16), new Share())).toBe(16);
});

it('has room for a newcomer when others have their maximum', () => {
  const shares = new Shares(10_000);
  for (let flooder = 0; flooder < 3; flooder++) fill(shares, new Share());
  expect(fill(shares, new Share())).toBeGreaterThan(100);
});

it('never gives more than there is', () => {
  const shares = new Shares(10_000);
  for (let flooder = 0; flooder < 200; flooder++) fill(shares, new Share());
  expect(shares.used).toBe(10_000);
  expect(shares.take(new Share(), 1)).toBe(false);
});

it('takes nothing when it refuses', () => {
  const shares = new Shares(10);
  const share = new Share();
  expect([shares.take(share, 11), shares.used, share.held]).toEqual([false, 0, 0]);
});

it('can give again what was returned', () => {
  const shares = new Shares(10);
  const share = new Share();
  shares.take(share, 10);
  shares.give(share, 4);
  expect([shares.take(share, 4), shares.used, share.held]).toEqual([true, 10, 10]);
});

it('counts what is put regardless of what is left, and reports which holder has too much', () => {
  const shares = new Shares(100);
  const [much, little] = [new Share(), new Share()];
  shares.put(much, 99);
  shares.put(little, 5);
  expect([shares.used, shares.mayHold(much), shares.mayHold(little)]).toEqual([104, false, true]);
});

it('lets everyone hold a little at the cost of a holder with too much', () => {
  const shares = new Shares(1000);
  const [much, little] = [new Share(), new Share()];
  shares.put(much, 1000);
  expect([shares.mayHold(much), shares.mayHold(little, 16), shares.mayHold(little, 17)]).toEqual([false, true, false]);
});
