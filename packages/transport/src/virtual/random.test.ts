import { describe, expect, it } from 'vitest';
import { SeededRandom } from './random.js';

const draw = (random: SeededRandom, count = 1000) => Array.from({ length: count }, () => random.next());

describe('SeededRandom', () => {
  it('repeats itself for the same seed, number or text', () => {
    expect(draw(new SeededRandom(7))).toEqual(draw(new SeededRandom('7')));
  });

  it('differs between neighbouring seeds', () => {
    const firsts = new Set(Array.from({ length: 1000 }, (_, seed) => new SeededRandom(seed).uint32()));
    expect(firsts.size).toBe(1000);
  });

  it('is spread evenly over [0, 1)', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const value of draw(new SeededRandom(1), 10_000)) tenths[Math.floor(value * 10)]!++;
    expect(Math.min(...tenths)).toBeGreaterThan(900);
    expect(Math.max(...tenths)).toBeLessThan(1100);
  });

  it('keeps integers below their bound and reaches all of them', () => {
    const random = new SeededRandom(3);
    const seen = new Set(Array.from({ length: 200 }, () => random.below(5)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('forks by label alone: earlier draws do not matter', () => {
    const used = new SeededRandom(5);
    draw(used);
    expect(draw(used.fork('link'))).toEqual(draw(new SeededRandom(5).fork('link')));
    expect(draw(used.fork('link'))).not.toEqual(draw(used.fork('timer')));
  });

  it('makes version 4 UUIDs', () => {
    const random = new SeededRandom(9);
    for (let i = 0; i < 100; i++)
      expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('refuses to pick from an empty list', () => {
    expect(() => new SeededRandom(1).pick([])).toThrow(RangeError);
  });
});
