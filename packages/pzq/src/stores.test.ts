import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storeOf } from './stores.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proj-stores-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('rule 31: only a store that outlives its process calls itself durable', () => {
  expect([storeOf('memory:').durable, storeOf(`lmdb:${folder}/a`).durable]).toEqual([false, true]);
});

it('is the store that was given, if it was given one', () => {
  const store = storeOf('memory:');
  expect(storeOf(store)).toBe(store);
});

it('rule 28: when a commit is over its message is in a file, for whoever reads that', async () => {
  const store = storeOf(`lmdb:${folder}`);
  await store.open();
  for (let n = 0; n < 5; n++) {
    const marker = Buffer.from(`message ${n} of this test, and of no other`);
    expect(await isOnDisk(marker)).toBe(false);
    const put = { storedMicros: 1, body: [marker], readyMicros: 0, expiresMicros: 0 };
    await store.commit({ puts: [put], removes: [], deliveries: [], buries: [], revives: [], passed: [] });
    expect(await isOnDisk(marker)).toBe(true);
  }
  await store.close();
});

async function isOnDisk(marker: Buffer): Promise<boolean> {
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
  return files.some((file) => file.includes(marker));
}
