import { describe, expect, it } from 'vitest';
import { cronIn, isTimeZone } from './cron.js';

/** Microseconds of a time in UTC. */
const at = (text: string) => Date.parse(`${text}Z`) * 1000;
const utc = cronIn('UTC');

describe('cron', () => {
  it('tells the first time after another, in microseconds', () => {
    expect(utc('30 4 * * *', at('2026-11-23T04:29:59'))).toBe(at('2026-11-23T04:30:00'));
    expect(utc('30 4 * * *', at('2026-11-23T04:30:00'))).toBe(at('2026-11-24T04:30:00'));
    expect(utc('*/5 * * * *', at('2026-11-23T23:58:00'))).toBe(at('2026-11-24T00:00:00'));
  });

  it('uses the given time zone', () => {
    expect(cronIn('Europe/Berlin')('0 6 * * *', at('2026-01-10T00:00:00'))).toBe(at('2026-01-10T05:00:00'));
    expect(cronIn('Europe/Berlin')('0 6 * * *', at('2026-07-10T00:00:00'))).toBe(at('2026-07-10T04:00:00'));
  });

  it.each([
    ['a nickname', '@daily'],
    ['six fields, with seconds', '0 30 4 * * *'],
    ['nothing', ''],
    ['words', 'every day'],
    ['a minute that does not exist', '60 * * * *'],
    ['a day that never comes', '0 0 30 2 *'],
  ])('has no time for %s', (_, expression) => {
    expect(utc(expression, at('2026-11-23T00:00:00'))).toBeUndefined();
  });

  it('knows the time zones of this machine and no others', () => {
    expect(['UTC', 'Europe/Berlin', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
  });
});
