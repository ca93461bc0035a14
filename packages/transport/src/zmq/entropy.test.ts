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

  it.each([86_400_000, -86_400_000, 5])('follows the machine when that is set by %i ms', (jumpMs) => {
    vi.spyOn(performance, 'now').mockReturnValue(1000);
    const wall = vi.spyOn(Date, 'now').mockReturnValue(50_000);
    expect(systemEntropy.wallMicros()).toBe(50_000_000);
    wall.mockReturnValue(50_000 + jumpMs);
    expect(systemEntropy.wallMicros()).toBe((50_000 + jumpMs) * 1000);
  });

  it('is what is finer of the monotonic clock in between', () => {
    vi.spyOn(Date, 'now').mockReturnValue(50_000);
    vi.spyOn(performance, 'now').mockReturnValueOnce(9000).mockReturnValueOnce(9000.25).mockReturnValueOnce(9001.4);
    expect([1, 2, 3].map(() => systemEntropy.wallMicros())).toEqual([50_000_000, 50_000_250, 50_001_400]);
  });
});
