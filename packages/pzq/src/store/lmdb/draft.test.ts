import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkFile } from '@proj/store/lmdb-folder';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LmdbStore } from '../lmdb.js';
import type { Batch, NewMessage } from '../store.js';
import { decodeLedger, LEDGER_KEY } from './ledger.js';

const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };

let folder: string;
let store: LmdbStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pzq-draft-'));
  store = new LmdbStore({ folder });
  await store.open();
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

function put(bytes: number, more: Partial<NewMessage> = {}): NewMessage {
  return { storedMicros: 7, body: [Buffer.alloc(bytes)], readyMicros: 0, expiresMicros: 0, ...more };
}

/** How many entries each table has; and, as `counted`, how many counts of deliveries the ledger believes there are. */
async function sizes(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await walkFile(join(folder, 'queue.mdb'), {
    entry: (table, key, value) => {
      if (table === '' && key.toString() === LEDGER_KEY) counts['counted'] = decodeLedger(value, folder).counted;
      counts[table] = (counts[table] ?? 0) + 1;
      return true;
    },
    damage: ({ what }) => {
      throw new Error(what);
    },
  });
  return counts;
}

describe('what a commit leaves in the tables', () => {
  it('of a removed message is nothing: no body, no count of deliveries', async () => {
    await store.commit({ ...EMPTY, puts: [put(5000), put(10)] });
    await store.commit({ ...EMPTY, deliveries: [{ seq: 1, deliveries: 2 }] });
    expect(await sizes()).toMatchObject({ messages: 2, bodies: 1, deliveries: 1, counted: 1 });
    await store.commit({ ...EMPTY, removes: [{ seq: 1, storedMicros: 7 }] });
    const { messages, bodies = 0, deliveries = 0, counted } = await sizes();
    expect({ messages, bodies, deliveries, counted }).toEqual({ messages: 1, bodies: 0, deliveries: 0, counted: 0 });
  });

  it('of a dead letter is no count of deliveries, whoever tells one', async () => {
    await store.commit({ ...EMPTY, puts: [put(10)] });
    await store.commit({ ...EMPTY, buries: [{ seq: 1, reason: 'expired', diedMicros: 9 }] });
    await store.commit({ ...EMPTY, deliveries: [{ seq: 1, deliveries: 4 }] });
    expect((await sizes())['deliveries']).toBeUndefined();
  });

  it('of ids is what is known still: the last time of each, and none whose time is over', async () => {
    const known = (id: string, storedMicros: number) =>
      put(1, { storedMicros, dedupe: { id: Buffer.from(id), untilMicros: storedMicros + 100 } });
    await store.commit({ ...EMPTY, puts: [known('a', 1000)] });
    await store.commit({ ...EMPTY, puts: [known('a', 1100)] });
    expect(await sizes()).toMatchObject({ ids: 1, 'id-times': 1 });
    await store.commit({ ...EMPTY, puts: [known('b', 2000)] });
    expect(await sizes()).toMatchObject({ ids: 1, 'id-times': 1 });
  });

  it('of an id that comes again, when more are forgotten than one commit takes, is its last time alone', async () => {
    const known = (id: string, storedMicros: number) =>
      put(1, { storedMicros, dedupe: { id: Buffer.from(id), untilMicros: storedMicros + 100 } });
    await store.commit({ ...EMPTY, puts: ['a', 'b', 'c'].map((id, index) => known(id, 1000 + index)) });
    // Two are forgotten with each that comes, the earliest first: `c` is known still, and its time is over.
    await store.commit({ ...EMPTY, puts: [known('c', 2000)] });
    expect(await sizes()).toMatchObject({ ids: 1, 'id-times': 1 });
  });
});
