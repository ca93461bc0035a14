import { expect, it } from 'vitest';
import type { Model } from '../src/model.js';
import { processFamilies } from '../src/process-families.js';

/** Mean, 99th percentile and maximum in seconds, of what Node has measured in nanoseconds. */
function lags(mean: number, p99: number, max: number): (string | undefined)[] {
  const counted = { enable: () => true, disable: () => true, reset: () => undefined };
  const { families } = processFamilies({ ...counted, mean, max, percentile: () => p99 });
  const lag = families.filter(({ name }) => name.startsWith('nodejs_eventloop_lag_'));
  return lag.map(({ samples }) => samples({} as Model)[0]?.value.toFixed(3));
}

it('tells how late the event loop was, without the 50 ms of the timer that Node measures with', () => {
  expect(lags(51e6, 80e6, 350e6)).toEqual(['0.001', '0.030', '0.300']);
});

it('tells 0 before anything was measured', () => {
  expect(lags(NaN, 0, 9_223_372_036_854_776_000)).toEqual(['0.000', '0.000', '0.000']);
});
