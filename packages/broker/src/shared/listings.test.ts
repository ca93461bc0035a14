import { describe, expect, it } from 'vitest';
import { Listings } from './listings.js';

describe('Listings', () => {
  const setup = () => {
    const listings = new Listings<number>();
    let made = 0;
    return (lines: number, now: number, question = 'workers') => listings.answer(question, lines, now, () => ++made);
  };

  it('makes short answers anew each time', () => {
    const ask = setup();
    expect([ask(49, 0), ask(49, 0)]).toEqual([1, 2]);
  });

  it.each([
    { lines: 50, ms: 50 },
    { lines: 499, ms: 499 },
    { lines: 10_000, ms: 500 },
  ])('caches an answer of $lines lines for $ms ms', ({ lines, ms }) => {
    const ask = setup();
    expect([ask(lines, 1000), ask(lines, 1000 + ms - 1), ask(lines, 1000 + ms)]).toEqual([1, 1, 2]);
  });

  it('caches no more than eight answers, the latest', () => {
    const ask = setup();
    for (let index = 0; index < 9; index++) ask(100, 0, `page ${index}`);
    expect([ask(100, 1, 'page 8'), ask(100, 1, 'page 1'), ask(100, 1, 'page 0')]).toEqual([9, 2, 10]);
  });
});
