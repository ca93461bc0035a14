import { generateCurveKeys } from '@proj/transport/curve';
import { expect, it, onTestFinished, vi } from 'vitest';
import type * as Curve from './curve-security.js';

const curve = { role: 'server', keys: generateCurveKeys() } as const;

it('CURVE that cannot be loaded is UNAVAILABLE, and loading may be retried', async () => {
  let boxes = (): Promise<void> => Promise.reject(new Error('too many open files'));
  vi.doMock('./curve-security.js', async (original) => ({
    ...(await original<typeof Curve>()),
    loadBoxes: () => boxes(),
  }));
  // Other files of this process have loaded CURVE.
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock('./curve-security.js');
    vi.resetModules();
  });
  const { loadCurve, securityOf } = await import('./security.js');
  const make = () => securityOf(curve, undefined, (bytes) => Buffer.allocUnsafe(bytes));
  await expect(loadCurve()).rejects.toMatchObject({ code: 'UNAVAILABLE', cause: { message: 'too many open files' } });
  expect(make).toThrow('await load() before');
  boxes = () => Promise.resolve();
  await loadCurve();
  expect(make()?.name).toBe('CURVE');
});
