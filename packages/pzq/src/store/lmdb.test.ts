import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Bundle, canLimitFiles, limitFiles, WriterProcess } from '@proj/testkit/stores';
import { isProjError } from '@proj/transport';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storeCompliance } from './compliance/index.js';
import { LmdbStore } from './lmdb.js';
import { emptyLedger, encodeLedger } from './lmdb/ledger.js';
import type { Batch, NewMessage } from './store.js';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
const MIB = 2 ** 20;
/** What the writer tells before it is killed. */
const LINES = 60;
const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };

let bundle: Bundle;
let script: string;
const writers: WriterProcess[] = [];

beforeAll(async () => {
  bundle = await Bundle.make({
    packageFolder: PACKAGE,
    modules: { lmdb: 'src/store/lmdb.ts', killed: 'src/store/compliance/killed.ts' },
    external: ['lmdb'],
  });
  const text = `
    import { writeSync } from 'node:fs';
    import { writeUntilKilled } from './killed.mjs';
    import { LmdbStore } from './lmdb.mjs';
    await writeUntilKilled(new LmdbStore({ folder: process.argv[2] }), (line) => writeSync(1, line + '\\n'));`;
  script = await bundle.script('writer.mjs', text);
});

afterEach(async () => {
  await Promise.all(writers.splice(0).map((one) => one.kill()));
});

afterAll(() => bundle.remove());

/** A process that writes to the store in this folder, when it has told that many lines. */
async function writer(folder: string, lines: number): Promise<WriterProcess> {
  const started = await WriterProcess.start(script, folder, lines);
  writers.push(started);
  return started;
}

describe('the store in LMDB, rule 26', () => {
  const ignore = (): void => undefined;
  beforeAll(() => void process.on('SIGXFSZ', ignore));
  afterAll(() => void process.off('SIGXFSZ', ignore));

  const subject = {
    place: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'pzq-lmdb-'));
      const queue = join(folder, 'queue');
      return {
        store: () => new LmdbStore({ folder: queue }),
        remove: () => rm(folder, { recursive: true }),
        breakWrites: async () => {
          // Not less: within the file LMDB writes by itself.
          await limitFiles((await stat(join(queue, 'queue.mdb'))).size);
          return () => limitFiles('unlimited');
        },
        killWriter: async () => {
          const started = await writer(queue, LINES);
          await started.kill();
          return started.told;
        },
      };
    },
    capabilities: {
      durable: true,
      moments: true,
      exclusive: true,
      shared: false,
      breakable: canLimitFiles,
      killable: true,
    },
  };
  for (const { name, applies, run } of storeCompliance(subject)) it.runIf(applies)(name, run);
});

describe('the folder of the store in LMDB', () => {
  let folder: string;
  let stores: LmdbStore[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pzq-folder-'));
    stores = [];
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await rm(folder, { recursive: true });
  });

  function storeIn(path: string): LmdbStore {
    const store = new LmdbStore({ folder: path });
    stores.push(store);
    return store;
  }

  const message: NewMessage = { storedMicros: 1, body: [Buffer.alloc(3000, 'x')], readyMicros: 0, expiresMicros: 0 };

  /** A closed store with messages; returns its file. */
  async function filled(messages: number): Promise<string> {
    const store = storeIn(folder);
    await store.open();
    await store.commit({ ...EMPTY, puts: Array.from({ length: messages }, () => message) });
    await store.close();
    return join(folder, 'queue.mdb');
  }

  async function contents(): Promise<Record<string, string>> {
    const names = await readdir(folder);
    const hashes = names.map(async (name) => {
      const bytes = await readFile(join(folder, name));
      return [name, createHash('sha256').update(bytes).digest('hex')] as const;
    });
    return Object.fromEntries(await Promise.all(hashes));
  }

  /** Opening fails with this code and these words, and leaves the folder as it is. */
  async function refuses(code: 'CORRUPT' | 'UNAVAILABLE', words: RegExp): Promise<void> {
    const before = await contents();
    const error: unknown = await storeIn(folder)
      .open()
      .catch((reason: unknown) => reason);
    expect(isProjError(error, code), String(error)).toBe(true);
    expect((error as Error).message).toMatch(words);
    expect(await contents()).toEqual(before);
  }

  it('is read in portions that count frames, so that no read takes long', async () => {
    const store = storeIn(join(folder, 'queue'));
    await store.open();
    const body = new Array<Uint8Array>(1000).fill(new Uint8Array());
    const ready = new Array<NewMessage>(50).fill({ ...message, body });
    const delayed = new Array<NewMessage>(50).fill({ ...message, body, readyMicros: 2 });
    await store.commit({ ...EMPTY, puts: [...ready, ...delayed] });
    const scanned = await store.scan(0, 100, 1_000_000);
    const due = await store.due(2, 100);
    expect([scanned.length, due.ready.length]).toEqual([7, 34]);
  });

  it('is made where there is none, with its parents', async () => {
    await storeIn(join(folder, 'a/b')).open();
    expect((await stat(join(folder, 'a/b/queue.mdb'))).isFile()).toBe(true);
  });

  it('may hold what file systems put there', async () => {
    await mkdir(join(folder, 'lost+found'));
    await writeFile(join(folder, '.keep'), '');
    expect((await storeIn(folder).open()).lastSeq).toBe(0);
  });

  it('rule 21: is refused and left alone when it holds something else', async () => {
    await writeFile(join(folder, 'letters.txt'), 'dear');
    await refuses('CORRUPT', /holds letters\.txt/);
  });

  it('is refused when it is a file', async () => {
    await writeFile(join(folder, 'file'), 'text');
    await expect(storeIn(join(folder, 'file')).open()).rejects.toThrow(/not a folder/);
    await expect(storeIn(join(folder, 'file/below')).open()).rejects.toThrow(/not a folder/);
  });

  it.each([
    ['text', Buffer.from('this is no database, but it is long enough to be one '.repeat(400))],
    ['zeros', Buffer.alloc(20_000)],
    ['a few bytes', Buffer.from('x')],
  ])('rule 21: is refused and left alone when its file is %s', async (_what, bytes) => {
    await writeFile(join(folder, 'queue.mdb'), bytes);
    await refuses('CORRUPT', /is not a database/);
  });

  it('rule 21: is refused and left alone when its file is cut short', async () => {
    const file = await filled(1000);
    await truncate(file, MIB);
    await refuses('CORRUPT', /truncated: 1048576 of \d+ bytes/);
  });

  it('rule 21: is refused and left alone when a newer version wrote it', async () => {
    const file = await filled(1);
    const bytes = await readFile(file);
    const ledger = encodeLedger(emptyLedger(0n)).subarray(0, 8);
    const newer = Buffer.from(ledger);
    newer.writeUInt32BE(3, 4);
    for (let at = bytes.indexOf(ledger); at >= 0; at = bytes.indexOf(ledger, at + 1)) newer.copy(bytes, at);
    await writeFile(file, bytes);
    const error: unknown = await storeIn(folder)
      .open()
      .catch((reason: unknown) => reason);
    expect(isProjError(error, 'CORRUPT'), String(error)).toBe(true);
    expect((error as Error).message).toMatch(/format 3, this version reads 2/);
    expect((await readFile(file)).equals(bytes)).toBe(true);
  });

  it('rule 21: names the process that holds it, and is taken over when that one is dead', async () => {
    const started = await writer(folder, 2);
    const error: unknown = await storeIn(folder)
      .open()
      .catch((reason: unknown) => reason);
    expect(isProjError(error, 'UNAVAILABLE'), String(error)).toBe(true);
    expect((error as Error).message).toContain(`held by process ${String(started.pid)}`);
    await started.kill();
    expect((await storeIn(folder).open()).counts.messages).toBeGreaterThan(0);
  });
});
