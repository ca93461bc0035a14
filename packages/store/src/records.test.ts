import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Bundle, canLimitFiles, limitFiles, WriterProcess } from '@proj/testkit/stores';
import { isProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import { recordsCompliance } from '@proj/transport/compliance';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lmdbRecords } from './index.js';

const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
/** What the writer prints before it is killed. */
const LINES = 60;
/** Owns what an unprivileged process may use. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);

let bundle: Bundle;
let script: string;
let openingScript: string;
const writers: WriterProcess[] = [];

beforeAll(async () => {
  bundle = await Bundle.make({
    packageFolder: PACKAGE,
    modules: { store: 'src/index.ts', compliance: '../transport/src/compliance/index.ts' },
    external: ['lmdb'],
  });
  const text = `
    import { writeSync } from 'node:fs';
    import { writeRecordsUntilKilled } from './compliance.mjs';
    import { lmdbRecords } from './store.mjs';
    await writeRecordsUntilKilled(lmdbRecords({ folder: process.argv[2] }), (line) => writeSync(1, line + '\\n'));`;
  script = await bundle.script('writer.mjs', text);
  const openingText = `
    import 'lmdb';
    import { lmdbRecords } from './store.mjs';
    if (process.getuid() === 0) process.setuid(${NOBODY});
    const records = lmdbRecords({ folder: process.argv[2] });
    await records.open().then(() => console.log('open'), ({ code, message }) => console.log(code + ' ' + message));
    await records.close();`;
  openingScript = await bundle.script('opening.mjs', openingText);
});

afterEach(async () => {
  await Promise.all(writers.splice(0).map((one) => one.kill()));
});

afterAll(() => bundle.remove());

async function writer(folder: string): Promise<WriterProcess> {
  const started = await WriterProcess.start(script, folder, LINES);
  writers.push(started);
  return started;
}

describe('records in LMDB', () => {
  const ignore = (): void => undefined;
  beforeAll(() => void process.on('SIGXFSZ', ignore));
  afterAll(() => void process.off('SIGXFSZ', ignore));

  const subject = {
    place: async () => {
      const parent = await mkdtemp(join(tmpdir(), 'proj-records-'));
      const folder = join(parent, 'records');
      return {
        store: () => lmdbRecords({ folder }),
        remove: () => rm(parent, { recursive: true }),
        breakWrites: async () => {
          // Not less: within the file, LMDB does the writing itself.
          await limitFiles((await stat(join(folder, 'records.mdb'))).size);
          return () => limitFiles('unlimited');
        },
        killWriter: async () => {
          const started = await writer(folder);
          await started.kill();
          return started.told;
        },
      };
    },
    capabilities: { durable: true, exclusive: true, breakable: canLimitFiles, killable: true },
  };
  for (const { name, applies, run } of recordsCompliance(subject)) it.runIf(applies)(name, run);
});

describe('the folder of records', () => {
  let folder: string;
  let stores: RecordStore[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proj-records-'));
    stores = [];
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await rm(folder, { recursive: true });
  });

  function storeIn(path: string): RecordStore {
    const store = lmdbRecords({ folder: path });
    stores.push(store);
    return store;
  }

  it('is refused to a second process, naming the pid of the first, and taken over when that one is dead', async () => {
    const started = await writer(folder);
    const error: unknown = await storeIn(folder)
      .open()
      .catch((reason: unknown) => reason);
    expect(isProjError(error, 'UNAVAILABLE'), String(error)).toBe(true);
    expect((error as Error).message).toContain(`held by process ${String(started.pid)}`);
    await started.kill();
    await storeIn(folder).open();
  });

  it('is refused and left alone when it holds something else', async () => {
    await writeFile(join(folder, 'letters.txt'), 'dear');
    await expect(storeIn(folder).open()).rejects.toThrow(/holds letters\.txt but no records\.mdb/);
  });

  it('is refused when its file is not a database, or one of another kind', async () => {
    const bytes = Buffer.from('this is no database, but it is long enough to be one '.repeat(400));
    await writeFile(join(folder, 'records.mdb'), bytes);
    await expect(storeIn(folder).open()).rejects.toThrow(/is not a database/);
    expect((await readFile(join(folder, 'records.mdb'))).equals(bytes)).toBe(true);
  });

  it('is refused and left alone when another version wrote it', async () => {
    const store = storeIn(folder);
    await store.open();
    await store.commit({ puts: [['key', Buffer.from('value')]] });
    await store.close();
    const file = join(folder, 'records.mdb');
    const text = await readFile(file, 'latin1');
    expect(text).toContain('proj records 2');
    const newer = Buffer.from(text.replaceAll('proj records 2', 'proj records 3'), 'latin1');
    await writeFile(file, newer);
    await expect(storeIn(folder).open()).rejects.toThrow(/holds proj records 3 instead of proj records 2/);
    expect((await readFile(file)).equals(newer)).toBe(true);
  });

  const ADVICE = 'choose a folder that can be created, read and written';

  it.each<[string, (path: string) => string, string]>([
    ['cannot be made', () => '/proc/x', 'ENOENT'],
    ['is a file', (path) => join(path, 'file'), 'it is not a folder'],
    ['is below a file', (path) => join(path, 'file', 'below'), 'it is not a folder'],
    ['has a folder where its file should be', (path) => join(path, 'odd'), 'EISDIR'],
  ])('is refused when it %s', async (_, pathIn, why) => {
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'odd', 'records.mdb'), { recursive: true });
    const path = pathIn(folder);
    await expect(storeIn(path).open()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: `the store in ${path} cannot be opened (${why}): ${ADVICE}`,
    });
  });

  /** What an unprivileged process says when it opens the folder, whose parent it cannot list. */
  async function opening(path: string): Promise<string> {
    await chmod(folder, 0o311);
    const { stdout } = await promisify(execFile)(process.execPath, [openingScript, path]);
    await chmod(folder, 0o700);
    return stdout.trim();
  }

  const refusal = (path: string) => `OPTIONS_INVALID the store in ${path} cannot be opened (EACCES): ${ADVICE}`;

  it('is refused when we may not write to it or create it', async () => {
    const path = join(folder, 'store');
    await mkdir(path, { mode: 0o555 });
    expect(await opening(path)).toBe(refusal(path));
    expect(await opening(join(path, 'below'))).toBe(refusal(join(path, 'below')));
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['write to its file', (path) => chmod(join(path, 'records.mdb'), 0o444)],
    ['write to the lock beside its file', (path) => chmod(join(path, 'records.mdb-lock'), 0o444)],
    ['make the lock beside its file', (path) => rm(join(path, 'records.mdb-lock'))],
  ])('is refused when we may not %s', async (_, change) => {
    const path = join(folder, 'store');
    const store = storeIn(path);
    await store.open();
    await store.close();
    for (const name of await readdir(path)) await chown(join(path, name), NOBODY, -1);
    await change(path);
    await chmod(path, 0o555);
    expect(await opening(path)).toBe(refusal(path));
    await chmod(path, 0o755);
  });

  it('opens although its parent cannot be listed', async () => {
    const path = join(folder, 'store');
    await mkdir(path);
    await chown(path, NOBODY, -1);
    expect(await opening(path)).toBe('open');
  });

  it('when a commit resolves, its record is in the file for any reader', async () => {
    const store = storeIn(folder);
    await store.open();
    for (let n = 0; n < 5; n++) {
      const marker = Buffer.from(`record ${n} of this test, and of no other`);
      expect((await readFile(join(folder, 'records.mdb'))).includes(marker)).toBe(false);
      await store.commit({ puts: [[`key ${n}`, marker]] });
      expect((await readFile(join(folder, 'records.mdb'))).includes(marker)).toBe(true);
    }
  });

  it('commits of one turn share a flush', async () => {
    const store = storeIn(folder);
    await store.open();
    await store.commit({ puts: [['first', Buffer.from('x')]] });
    const before = await transactions();
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.commit({ puts: [[`key ${n}`, Buffer.from('x')]] })));
    expect((await transactions()) - before).toBe(1n);
  });

  /** The number of the last transaction, from the newer of two meta pages. */
  async function transactions(): Promise<bigint> {
    const bytes = await readFile(join(folder, 'records.mdb'));
    const [one, other] = [152, bytes.readUInt32LE(48) + 152].map((at) => bytes.readBigUInt64LE(at));
    return one! > other! ? one! : other!;
  }
});
