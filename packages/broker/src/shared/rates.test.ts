import { describe, expect, it } from 'vitest';
import { Rates } from './rates.js';

/** How many of these attempts are granted at this time. */
const granted = (rates: Rates, peer: string, attempts: number, now: number): number =>
  Array.from({ length: attempts }, () => rates.take(peer, now)).filter(Boolean).length;

describe('Rates', () => {
  it('grants a second’s worth at once, then as many as time brings', () => {
    const rates = new Rates(10);
    expect(granted(rates, 'a', 100, 0)).toBe(10);
    expect(granted(rates, 'a', 100, 99)).toBe(0);
    expect(granted(rates, 'a', 100, 300)).toBe(3);
    expect(granted(rates, 'a', 100, 5000)).toBe(10);
  });

  it('counts each peer separately', () => {
    const rates = new Rates(10);
    expect(granted(rates, 'a', 100, 0)).toBe(10);
    expect(granted(rates, 'b', 100, 0)).toBe(10);
  });

  it('forgets peers that have used nothing', () => {
    const rates = new Rates(10);
    for (let peer = 0; peer < 1000; peer++) rates.take(`p${peer}`, 0);
    expect(rates.size).toBe(1000);
    for (let peer = 0; peer < 500; peer++) rates.take('again', 2000 + 100 * peer);
    expect(rates.size).toBe(1);
  });
});
