// A folder that does not hold the queue's store, or no longer: exit code 1, one line that says so, and nothing is
// changed.
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LmdbStore } from '@proj/pzq';
import { beforeEach, expect, it } from 'vitest';
import { program } from '../programs.js';
import { stage } from './stage.js';

const MIB = 2 ** 20;

const theater = stage();
let folder: string;

beforeEach(async () => {
  folder = join(await theater.folder(), 'queue');
  await mkdir(folder);
});

/** The names in the folder, and the contents of its files. */
async function contents(): Promise<Map<string, Buffer>> {
  const names = await readdir(folder);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

/** A closed store. */
async function store(): Promise<string> {
  const empty = new LmdbStore({ folder });
  await empty.open();
  const message = { storedMicros: 1, body: [Buffer.alloc(3 * MIB)], readyMicros: 0, expiresMicros: 0 };
  await empty.commit({ puts: [message], removes: [], deliveries: [], buries: [], revives: [], passed: [] });
  await empty.close();
  return join(folder, 'queue.mdb');
}

it.each([
  ['holds something else', 'holds letters.txt', () => writeFile(join(folder, 'letters.txt'), 'dear')],
  [
    'holds a file that is not a database',
    'is not a database',
    () => writeFile(join(folder, 'queue.mdb'), Buffer.alloc(MIB, 'x')),
  ],
  ['was truncated', 'is truncated', async () => truncate(await store(), MIB)],
])('rule 21: a folder that %s is refused and left alone', async (_what, words, prepare) => {
  await prepare();
  const before = await contents();
  const queue = theater.launch(program('queue', { ...(await theater.endpoints()), store: `lmdb:${folder}` }));
  const { code, stderr } = await queue.exit;
  expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
  expect(stderr.split('\n').length).toBe(1);
  const after = await contents();
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const [name, bytes] of before) expect(after.get(name)?.equals(bytes), name).toBe(true);
});
