import { ManualClock } from '@proj/heartbeat';
import { memoryRecords, ProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';
import { beforeEach, expect, it } from 'vitest';
import { WatchedRecords } from './watched-records.js';

const FULL = new ProjError('WRITE_FAILED', 'the disk of /jobs is full', { details: { code: 'ENOSPC' } });
const FAULT = { code: 'ENOSPC', text: 'the disk of /jobs is full' };
const JOB: RecordBatch = { puts: [['job', Buffer.from('1')]] };

let clock: ManualClock;
let inner: RecordStore;
let failure: Error | undefined;
/** How often something was written. */
let commits: number;
let records: WatchedRecords;
beforeEach(async () => {
  clock = new ManualClock();
  failure = undefined;
  commits = 0;
  inner = memoryRecords();
  const store: RecordStore = {
    open: () => inner.open(),
    get: (key) => inner.get(key),
    entries: (prefix) => inner.entries(prefix),
    commit: (batch) => {
      commits++;
      return failure === undefined ? inner.commit(batch) : Promise.reject(failure);
    },
    close: () => inner.close(),
  };
  records = new WatchedRecords(store, clock);
  await records.open();
});

/** A write that fails so. */
async function fail(error: Error = FULL): Promise<void> {
  failure = error;
  await expect(records.commit(JOB)).rejects.toBe(error);
}

/** Passes time, and lets what is due then be written. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

it('tries nothing more once it is closed', async () => {
  const writing = fail();
  await records.close();
  await writing;
  await pass(5000);
  expect(commits).toBe(1);
});

it('takes what is written, without a fault', async () => {
  await records.commit(JOB);
  expect(String(await records.get('job'))).toBe('1');
  expect(records.fault).toBeUndefined();
});

it('has a fault from a failed write until one of its own succeeds, and leaves nothing of it', async () => {
  await fail();
  expect(records.fault).toEqual(FAULT);
  failure = undefined;
  await pass(4999);
  expect([records.fault, commits]).toEqual([FAULT, 1]);
  await pass(1);
  expect([records.fault, commits]).toEqual([undefined, 3]);
  for await (const [key] of records.entries()) expect(key).toBe('none');
});

it('goes on trying while the store refuses', async () => {
  await fail();
  for (let trial = 1; trial <= 3; trial++) {
    await pass(5000);
    expect([records.fault, commits]).toEqual([FAULT, 1 + trial]);
  }
});

it('keeps its fault while other writes fail, whatever succeeds between them', async () => {
  await fail();
  failure = undefined;
  await records.commit(JOB);
  expect(records.fault).toEqual(FAULT);
  await pass(3000);
  await fail();
  failure = undefined;
  await pass(4999);
  expect(records.fault).toEqual(FAULT);
});

it('keeps its fault if another write fails during its own', async () => {
  await fail();
  failure = undefined;
  clock.advance(5000);
  failure = FULL;
  const other = records.commit(JOB);
  failure = undefined;
  await expect(other).rejects.toBe(FULL);
  await pass(0);
  expect([records.fault, commits]).toEqual([FAULT, 4]);
});

it.each([
  ['a store without a code of the system', new ProjError('CORRUPT', 'page 7 is damaged'), 'CORRUPT'],
  ['a store of a user', new Error('away'), 'WRITE_FAILED'],
])('tells the code of %s', async (_, error, code) => {
  await fail(error);
  expect(records.fault).toEqual({ code, text: error.message });
});

it.each([
  ['no store would take', 'OPTIONS_INVALID'],
  ['came after the end', 'CLOSED'],
] as const)('has no fault for a batch that %s', async (_, code) => {
  await fail(new ProjError(code, 'no'));
  expect(records.fault).toBeUndefined();
});

it('tries nothing any more once it is closed', async () => {
  await fail();
  await records.close();
  await pass(10_000);
  expect(commits).toBe(1);
});
