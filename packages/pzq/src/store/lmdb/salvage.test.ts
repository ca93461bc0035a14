import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkQueue, salvageQueue } from './salvage.js';
import { LmdbStore } from '../lmdb.js';
import type { Batch, NewMessage, StoredMessage } from '../store.js';

const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };
const FAR = 4e15;
const LARGE = 5000;

let folder: string;
let from: string;
let to: string;
const stores: LmdbStore[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pzq-salvage-'));
  [from, to] = [join(folder, 'from'), join(folder, 'to')];
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await rm(folder, { recursive: true });
});

function storeIn(path: string): LmdbStore {
  const store = new LmdbStore({ folder: path });
  stores.push(store);
  return store;
}

function put(text: string, more: Partial<NewMessage> = {}): NewMessage {
  return { storedMicros: 7, body: [Buffer.from(text)], readyMicros: 0, expiresMicros: 0, ...more };
}

/** 1 to 4 ready, the third large, the fourth to expire, delivered before; 5 delayed, 6 dead; closed. */
async function filled() {
  const store = storeIn(from);
  const { epoch } = await store.open();
  const id = Buffer.from('known');
  await store.commit({
    ...EMPTY,
    puts: [
      put('one', { dedupe: { id, untilMicros: FAR } }),
      put('two'),
      put('L'.repeat(LARGE)),
      put('four', { expiresMicros: FAR }),
      put('five', { readyMicros: FAR, expiresMicros: FAR + 1 }),
      put('six'),
    ],
  });
  await store.commit({
    ...EMPTY,
    deliveries: [
      { seq: 4, deliveries: 3 },
      { seq: 6, deliveries: 2 },
    ],
  });
  await store.commit({ ...EMPTY, buries: [{ seq: 6, reason: 'max-deliveries', diedMicros: 9 }] });
  await store.close();
  return { epoch, id };
}

function told(messages: readonly StoredMessage[]) {
  return messages.map(({ seq, body, deliveries, expiresMicros }) => [
    seq,
    body.map((frame) => Buffer.from(frame).toString().slice(0, 5)).join(),
    deliveries,
    expiresMicros,
  ]);
}

/** Changes the last byte of the first place where this text lies, everywhere in the file. */
async function damage(text: string): Promise<void> {
  const path = join(from, 'queue.mdb');
  const bytes = await readFile(path);
  const file = await open(path, 'r+');
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    await file.write('?', at + text.length - 1);
  await file.close();
}

describe('a queue that is looked after', () => {
  it('is readable as a whole when nothing is wrong', async () => {
    await filled();
    expect(await checkQueue(from)).toEqual({
      readable: { messages: 4, delayed: 1, dead: 1 },
      damaged: 0,
      damages: [],
    });
  });

  it('is carried over with keys, order, times, deliveries, dead letters and ids', async () => {
    const { epoch, id } = await filled();
    await salvageQueue(from, to);
    const store = storeIn(to);
    expect(await store.open()).toMatchObject({
      epoch,
      lastSeq: 6,
      counts: { messages: 5, delayed: 1, dead: 1, bytes: 15 + LARGE - 1, nextDueMicros: FAR },
    });
    expect(told(await store.scan(0, 10, 1e6))).toEqual([
      [1, 'one', 0, 0],
      [2, 'two', 0, 0],
      [3, 'LLLLL', 0, 0],
      [4, 'four', 3, FAR],
    ]);
    const [dead] = await store.dead(0, 10, 1e6);
    expect(dead).toMatchObject({ seq: 6, deliveries: 2, reason: 'max-deliveries', diedMicros: 9 });
    expect(await store.due(FAR, 10)).toMatchObject({ ready: [{ seq: 5 }], expired: [{ seq: 4 }] });
    const { seqs } = await store.commit({
      ...EMPTY,
      puts: [put('again', { dedupe: { id, untilMicros: FAR } }), put('new')],
    });
    expect(seqs).toEqual([0, 7]);
    expect((await checkQueue(to).catch(String)) as string).toContain('is held by process');
  });

  it.each([
    ['two', { messages: 3, delayed: 1, dead: 1 }, '2'],
    ['LLLL', { messages: 3, delayed: 1, dead: 1 }, '3'],
    ['six', { messages: 4, delayed: 1, dead: 0 }, '6'],
  ])('says what is lost of one whose message %s was damaged, and carries over the rest', async (text, readable) => {
    await filled();
    await damage(text);
    await expect(storeIn(from).open()).rejects.toMatchObject({ code: 'CORRUPT' });
    const check = await checkQueue(from);
    expect(check.readable).toEqual(readable);
    expect(check.damages[0]).toMatch(/^page \d+ of table \w+ has an entry that does not match its checksum$/);
    expect(check.damages.at(-1)).toMatch(/^\d of \d (messages|dead letters) can be read$/);
    expect(await salvageQueue(from, to)).toEqual(check);
    const { counts } = await storeIn(to).open();
    expect({ messages: counts.messages - counts.delayed, delayed: counts.delayed, dead: counts.dead }).toEqual(
      readable,
    );
    expect((await checkQueueAfterClose()).damaged).toBe(0);
  });

  async function checkQueueAfterClose() {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    return checkQueue(to);
  }

  it('gets new keys where the ledger is lost, and keeps the order', async () => {
    const { epoch } = await filled();
    await damage('PZQ\n\0');
    expect((await checkQueue(from)).damages.at(-1)).toContain('the ledger cannot be read');
    await salvageQueue(from, to);
    const store = storeIn(to);
    const opened = await store.open();
    expect(opened).toMatchObject({ lastSeq: 6, counts: { messages: 5, dead: 1 } });
    expect(opened.epoch).not.toBe(epoch);
    expect((await store.scan(0, 10, 1e6)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('is not read where there is none, and not written where there is one', async () => {
    await filled();
    await expect(checkQueue(to)).rejects.toThrow(`${to} has no queue.mdb to read (ENOENT)`);
    await storeIn(to).open();
    await expect(salvageQueue(from, to)).rejects.toThrow(`${to} already has a queue.mdb: choose a new folder`);
  });
});

describe('a queue of a version without checksums', () => {
  /** As version 1 wrote it: two ready messages, the second one's body apart. */
  async function old(): Promise<void> {
    const store = storeIn(from);
    await store.open();
    await store.close();
    const root = openLmdb<Buffer, string>(join(from, 'queue.mdb'), { encoding: 'binary', cache: false, maxDbs: 8 });
    const table = (name: string) => root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary' });
    const ledger = Buffer.alloc(64);
    ledger.write('PZQ\n', 'latin1');
    ledger.writeUInt32BE(1, 4);
    for (const [index, value] of [3, 3, 2 + 1500 + 1, 0, 0, 1].entries()) ledger.writeDoubleBE(value, 16 + 8 * index);
    const key = (seq: number) => Buffer.from([0, 0, 0, 0, 0, 0, 0, seq]);
    const expiring = Buffer.from('21400000000000000000000000000000000000000100000001', 'hex');
    expiring.writeDoubleBE(FAR, 9);
    await root.put('ledger', ledger);
    await table('messages').put(key(1), Buffer.from('01400000000000000000000001000000026869', 'hex'));
    await table('messages').put(key(2), Buffer.from('814000000000000000000005dc', 'hex'));
    await table('bodies').put(key(2), Buffer.concat([Buffer.from('00000001000005dc', 'hex'), Buffer.alloc(1500, 'b')]));
    await table('messages').put(key(3), Buffer.concat([expiring, Buffer.from('!')]));
    await table('moments').put(Buffer.concat([micros(FAR), key(3), Buffer.from([1])]), Buffer.alloc(1));
    await table('deliveries').put(key(1), Buffer.from([0, 0, 0, 2]));
    await root.close();
  }

  function micros(value: number): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes;
  }

  it('opens, is read, moved, removed from, and has a checksum for whatever is written from then on', async () => {
    await old();
    const store = storeIn(from);
    expect(await store.open()).toMatchObject({ lastSeq: 3, counts: { messages: 3 } });
    expect(told(await store.scan(0, 10, 1e6))).toEqual([
      [1, 'hi', 2, 0],
      [2, 'bbbbb', 0, 0],
      [3, '!', 0, FAR],
    ]);
    expect(await store.due(FAR, 10)).toMatchObject({ expired: [{ seq: 3 }] });
    await store.commit({ ...EMPTY, buries: [{ seq: 2, reason: 'expired', diedMicros: 9 }], passed: [3] });
    await store.commit({ ...EMPTY, puts: [put('new')], removes: [{ seq: 1, storedMicros: 2 }], revives: [2] });
    expect(told(await store.scan(0, 10, 1e6))).toEqual([
      [2, 'bbbbb', 0, 0],
      [3, '!', 0, FAR],
      [4, 'new', 0, 0],
    ]);
    await store.close();
    await damage('new');
    await expect(storeIn(from).open()).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  it('is carried over as well', async () => {
    await old();
    expect(await salvageQueue(from, to)).toEqual({
      readable: { messages: 3, delayed: 0, dead: 0 },
      damaged: 0,
      damages: [],
    });
    const store = storeIn(to);
    await store.open();
    expect(told(await store.scan(0, 10, 1e6)).map(([seq]) => seq)).toEqual([1, 2, 3]);
  });
});
