import { expect, it } from 'vitest';
import type { ServiceRow } from '@proj/observe/model';
import { ServiceActions } from './services.js';

const NONE = { count: 0, p50: 0, p95: 0, p99: 0 };
const ROW: ServiceRow = {
  ...{ protocol: 'pzq', name: 'orders', requests: 0, outcomes: {}, resends: 0, rate: 0, waiting: 0 },
  ...{ oldestWaitingMs: 0, running: 0, workers: 0, wait: NONE, work: NONE },
};

it('offers no pause and no purge for dead letters, which a queue refuses', () => {
  const offered = (row: ServiceRow) => JSON.stringify(ServiceActions({ row })).match(/(?<="action":")[a-z-]+/g);
  expect(offered(ROW)).toEqual(['pause', 'drain-service', 'purge']);
  expect(offered({ ...ROW, isDead: true })).toEqual(['drain-service']);
});
