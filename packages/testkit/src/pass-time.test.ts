import { expect, it } from 'vitest';
import { passTime } from './pass-time.js';

/** Is due every 100 ms and reports how late its timer was. */
class Ticker {
  now = 0;
  deadline = 100;

  step({ lateMs }: { readonly lateMs: number }): string {
    this.deadline += 100;
    return `late ${lateMs}`;
  }
}

it('delivers each deadline on the way, on time or as late as requested', () => {
  const ticker = new Ticker();
  expect(passTime(ticker, ticker, 250).map(String)).toEqual(['100,late 0', '200,late 0']);
  expect(passTime(ticker, ticker, 159, 10).map(String)).toEqual(['310,late 10']);
  expect(ticker.now).toBe(409);
});

it('delivers what is overdue at once, with all its delay', () => {
  const ticker = new Ticker();
  ticker.now = 230;
  expect(passTime(ticker, ticker, 0).map(String)).toEqual(['230,late 130', '230,late 30']);
});

it('refuses an engine that leaves its deadline where it was', () => {
  const stuck = { now: 0, deadline: 5, step: () => undefined };
  expect(() => passTime(stuck, stuck, 10)).toThrow('left the deadline at 5');
});
