import { generateCurveKeys } from '@proj/transport/curve';
import { expect, it, vi } from 'vitest';
import type * as Curve from './curve-security.js';
import { loadCurve, securityOf } from './security.js';

const module = vi.hoisted(() => ({ boxes: (): Promise<void> => Promise.reject(new Error('too many open files')) }));
vi.mock('./curve-security.js', async (original) => ({
  ...(await original<typeof Curve>()),
  loadBoxes: () => module.boxes(),
}));

const curve = { role: 'server', keys: generateCurveKeys() } as const;
const make = () => securityOf(curve, undefined, (bytes) => Buffer.allocUnsafe(bytes));

it('CURVE that cannot be loaded is UNAVAILABLE, and loading may be retried', async () => {
  await expect(loadCurve()).rejects.toMatchObject({ code: 'UNAVAILABLE', cause: { message: 'too many open files' } });
  expect(make).toThrow('await load() before');
  module.boxes = () => Promise.resolve();
  await loadCurve();
  expect(make()?.name).toBe('CURVE');
});
