import { expect, it } from 'vitest';
import { frameCost, requestCost } from './cost.js';

it('counts bytes, and a charge for each frame and each request: empty ones are not free', () => {
  const frames = [new Uint8Array(10), new Uint8Array(0)];
  expect(frameCost([])).toBe(0);
  expect(frameCost(frames) - frameCost([new Uint8Array(10)])).toBeGreaterThan(0);
  expect(frameCost([new Uint8Array(1000)]) - frameCost([new Uint8Array(0)])).toBe(1000);
  expect(requestCost([])).toBeGreaterThan(0);
  expect(requestCost(frames) - requestCost([])).toBe(frameCost(frames));
});
