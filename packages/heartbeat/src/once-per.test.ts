import { describe, expect, it } from 'vitest';
import { OncePer } from './once-per.js';

describe('OncePer', () => {
  it('allows a key once', () => {
    const limit = new OncePer(100, 10);
    expect([limit.allow('a', 0), limit.allow('a', 0), limit.allow('a', 99)]).toEqual([true, false, false]);
  });

  it('allows it again when the period is over', () => {
    const limit = new OncePer(100, 10);
    limit.allow('a', 0);
    expect(limit.allow('a', 100)).toBe(true);
  });

  it('is not extended by refusals', () => {
    const limit = new OncePer(100, 10);
    limit.allow('a', 0);
    limit.allow('a', 90);
    expect(limit.allow('a', 100)).toBe(true);
  });

  it('keeps keys apart', () => {
    const limit = new OncePer(100, 10);
    expect([limit.allow('a', 0), limit.allow('b', 0)]).toEqual([true, true]);
  });

  it('refuses new keys while its memory is full', () => {
    const limit = new OncePer(100, 2);
    limit.allow('a', 0);
    limit.allow('b', 50);
    expect([limit.allow('c', 60), limit.size]).toEqual([false, 2]);
    expect([limit.allow('c', 100), limit.size]).toEqual([true, 2]);
  });
});
