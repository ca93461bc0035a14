import { describe, expect, it } from 'vitest';
import { ServiceFigures } from './tally.js';

describe('Tally', () => {
  it('has no latency and no rate before the first answer', () => {
    const tally = new ServiceFigures('echo');
    expect(tally.percentileMs(0.5)).toBeNaN();
    expect(tally.perSecond).toBe(0);
  });

  it('gives percentiles as values that occurred', () => {
    const tally = new ServiceFigures('echo');
    for (let ms = 1; ms <= 100; ms++) tally.answer(1, 0, ms);
    expect([0.5, 0.99, 1].map((share) => tally.percentileMs(share))).toEqual([50, 99, 100]);
  });

  it('counts answers per second from the first request to the last answer', () => {
    const tally = new ServiceFigures('echo');
    tally.answer(1, 1000, 1400);
    tally.answer(2, 1100, 1500);
    expect(tally.perSecond).toBe(4);
    expect([...tally.answersByPid]).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it.each([
    ['an answer is missing', { sent: 2 }],
    ['a request failed', { failed: 1 }],
    ['an answer is wrong', { mismatched: 1 }],
  ])('is not sound when %s', (_, flaw) => {
    const tally = new ServiceFigures('echo');
    tally.sent = 1;
    tally.answer(1, 0, 1);
    expect(tally.sound).toBe(true);
    expect(Object.assign(tally, flaw).sound).toBe(false);
  });
});
