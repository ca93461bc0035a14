// A store of jobs on a full disk is a fault on the overview, and its proj-worker is not ready until there is room. What decides it is tested in
// packages/appkit/src/watched-records.test.ts.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { smallDisk } from '../pzq/small-disk.js';
import { stage } from './stage.js';

const theater = stage();

/** Together more than the disk takes. */
const JOBS = 48;
const BODY = 'x'.repeat(2 ** 20);

it('a worker whose disk is full is not ready until there is room', async ({ skip }) => {
  const disk = smallDisk();
  if (disk === undefined) return skip('a small disk is a tmpfs of its own, which only root may mount');
  theater.keep(disk);
  const at = await theater.broker();
  const worker = await theater.worker(at, `lmdb:${join(disk.folder, 'store')}`, { http: '127.0.0.1:0' });
  const { http } = await worker.line('listening');
  const ask = async (path: string) => (await fetch(new URL(path, http as string))).json();
  expect(await ask('readyz')).toEqual({ ready: true, reasons: [] });
  const client = await theater.client(at.endpoint);
  for (let number = 0; number < JOBS; number++) client.post(`job-${number}`, 'sha256', [BODY]);
  await worker.line('store-failed');
  expect(await ask('readyz')).toEqual({ ready: false, reasons: [{ server: 'nfp', reason: 'ENOSPC' }] });
  await expect
    .poll(() => ask('api/model'))
    .toMatchObject({ faults: { 'disk-full/nfp': { text: expect.stringContaining('ENOSPC') as string } } });
  await disk.grow();
  await expect.poll(() => ask('readyz')).toEqual({ ready: true, reasons: [] });
});
