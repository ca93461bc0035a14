/** Figures as text. */
import { describe, expect, it } from 'vitest';
import { ago, bytes, count, duration, percent, rate, short, until, wholeSeconds, words } from './format.js';

describe('format', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1.00k'],
    [12_345, '12.3k'],
    [999_400, '999k'],
    [999_600, '1.00M'],
    [4_560_000, '4.56M'],
    [7e9, '7.00G'],
  ])('short(%d) is %s', (value, text) => expect(short(value)).toBe(text));

  it.each([
    [0, '0 ms'],
    [0.44, '0.4 ms'],
    [9.96, '10 ms'],
    [999.6, '1.0 s'],
    [12_300, '12 s'],
    [120_000, '2 min'],
    [7_200_000, '2 h'],
    [400_000_000, '5 d'],
  ])('duration(%d) is %s', (value, text) => expect(duration(value)).toBe(text));

  it.each([
    [512, '512 B'],
    [1000, '0.98 KiB'],
    [1536, '1.50 KiB'],
    [2 ** 31, '2.00 GiB'],
    [2 ** 60, '1048576 TiB'],
  ])('bytes(%d) is %s', (value, text) => expect(bytes(value)).toBe(text));

  it.each([
    [0, '0'],
    [0.254, '0.25'],
    [3.14, '3.1'],
    [1204, '1,204'],
  ])('rate(%d) is %s', (value, text) => expect(rate(value)).toBe(text));

  it('counts with commas', () => expect(count(12_345)).toBe('12,345'));

  it("says how long ago and until when, by the server's clock", () => {
    expect([ago(5000, 5400), ago(5000, 12_000), ago(0, 600_000)]).toEqual(['now', '7 s ago', '10 min ago']);
    expect([until(5000, 5400), until(12_000, 5000)]).toEqual(['now', 'in 7 s']);
    expect(wholeSeconds(-20)).toBe('0 s');
  });

  it('writes shares and names readably', () => {
    expect([percent(0), percent(0.0123), percent(0.42)]).toEqual(['0 %', '1.2 %', '42 %']);
    expect([words('worker-lost'), words('framesRead')]).toEqual(['worker lost', 'frames read']);
  });
});
