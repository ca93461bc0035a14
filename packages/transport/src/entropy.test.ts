import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemEntropy } from './entropy.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the wall clock', () => {
  it('has a resolution of microseconds', () => {
    const times = Array.from({ length: 1000 }, () => systemEntropy.wallMicros());
    expect(times.every(Number.isInteger)).toBe(true);
    expect(times.some((time) => time % 1000 !== 0)).toBe(true);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it.each([86_400_000, -86_400_000, 5])('follows the clock of the machine when that is set by %i ms', (jumpMs) => {
    vi.spyOn(performance, 'now').mockReturnValue(1000);
    const wall = vi.spyOn(Date, 'now').mockReturnValue(50_000);
    expect(systemEntropy.wallMicros()).toBe(50_000_000);
    wall.mockReturnValue(50_000 + jumpMs);
    expect(systemEntropy.wallMicros()).toBe((50_000 + jumpMs) * 1000);
  });

  it('takes the finer digits from the monotonic clock in between', () => {
    vi.spyOn(Date, 'now').mockReturnValue(50_000);
    const monotonic = vi.spyOn(performance, 'now');
    const read = (ms: number) => {
      monotonic.mockReturnValue(ms);
      return systemEntropy.wallMicros();
    };
    expect([9000, 9000.25, 9001.4].map(read)).toEqual([50_000_000, 50_000_250, 50_001_400]);
  });

  it('does not go back when the process was suspended between reading one clock and the other', () => {
    let monotonicMs = 1000;
    let waitsMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      const now = monotonicMs;
      monotonicMs += waitsMs;
      waitsMs = 0;
      return now;
    });
    vi.spyOn(Date, 'now').mockImplementation(() => {
      const now = 49_000 + Math.floor(monotonicMs);
      monotonicMs += waitsMs;
      waitsMs = 0;
      return now;
    });
    const times = [0, 7, 0, 7, 0].map((ms) => {
      monotonicMs += 0.1;
      waitsMs = ms;
      return systemEntropy.wallMicros();
    });
    expect(times).toEqual([50_000_000, 50_007_100, 50_007_200, 50_014_300, 50_014_400]);
  });
});
