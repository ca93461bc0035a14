import { describe, expect, it } from 'vitest';
import { Backoff } from './backoff.js';

const OPTIONS = { minMs: 250, maxMs: 30_000, minUptimeMs: 10_000 };
const lowest = (): number => 0;
const highest = (): number => 1 - Number.EPSILON;

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.down(0));
}

describe('Backoff', () => {
  it('doubles up to the largest delay, drawn from the upper half: the table of its documentation', () => {
    expect(delays(new Backoff(OPTIONS, lowest), 9)).toEqual([125, 250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(delays(new Backoff(OPTIONS, highest), 9).map(Math.round)).toEqual([
      250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
  });

  it('draws around the full delay if a spread is given', () => {
    const options = { ...OPTIONS, spread: 0.2 };
    expect(delays(new Backoff(options, lowest), 3)).toEqual([200, 400, 800]);
    expect(delays(new Backoff(options, highest), 3).map(Math.round)).toEqual([300, 600, 1200]);
  });

  it('draws uniformly between the two', () => {
    expect(new Backoff(OPTIONS, () => 0.5).down(0)).toBe(187.5);
  });

  it('stays at the largest delay for ever', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    delays(backoff, 2_000);

    expect(backoff.down(0)).toBe(15_000);
  });

  it('counts the delays handed out since the last reset', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    expect(backoff.attempt).toBe(0);
    delays(backoff, 3);
    expect(backoff.attempt).toBe(3);
    backoff.up(0);
    backoff.down(10_000);
    expect(backoff.attempt).toBe(1);
  });

  it('starts again after a connection that has lasted', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    delays(backoff, 5);
    backoff.up(1_000);

    expect(backoff.down(11_000)).toBe(125);
  });

  it('keeps growing after a connection that was dropped at once', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    delays(backoff, 2);
    backoff.up(1_000);

    expect(backoff.down(10_999)).toBe(500);
  });

  it('measures a connection from its first sign of life', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    delays(backoff, 2);
    backoff.up(1_000);
    backoff.up(10_500);

    expect(backoff.down(11_000)).toBe(125);
  });

  it('does not mistake an attempt that never came up for a long connection', () => {
    const backoff = new Backoff(OPTIONS, lowest);
    backoff.up(0);
    backoff.down(20_000);

    expect(backoff.down(1_000_000)).toBe(250);
  });
});
