// A flush happens between a put and its acknowledgement, in every store on disk: seen from outside, as system calls, or reported by the database.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PostgresStore } from '@proj/pzq';
import { PostgresCluster } from '@proj/testkit/postgres';
import { Bundle } from '@proj/testkit/stores';
import pg from 'pg';
import { describe, expect, it } from 'vitest';

const EMPTY = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };
const COMMITS = 20;
const FLUSHES = 'fsync,fdatasync,msync';

/** Opens the store, then prints a line before and after each commit. */
const WRITERS = {
  queue: {
    source: '../pzq/src/store/lmdb.ts',
    script: `
      const store = new LmdbStore({ folder: process.argv[2] });
      await store.open();
      await around(() => store.commit({ ...${JSON.stringify(EMPTY)}, puts: [{ storedMicros: 1, body: [Buffer.from('x')], readyMicros: 0, expiresMicros: 0 }] }));`,
    name: 'LmdbStore',
  },
  records: {
    source: '../store/src/index.ts',
    script: `
      const store = lmdbRecords({ folder: process.argv[2] });
      await store.open();
      await around(() => store.commit({ puts: [['key', Buffer.from('x')]] }));`,
    name: 'lmdbRecords',
  },
} as const;

describe('between a put and its acknowledgement', () => {
  it.each(['queue', 'records'] as const)('the store of %s in LMDB flushes each time', async (which) => {
    const { source, script, name } = WRITERS[which];
    const folder = await mkdtemp(join(tmpdir(), 'proj-flush-'));
    const packageFolder = fileURLToPath(new URL('../../../packages/store/', import.meta.url));
    const bundle = await Bundle.make({ packageFolder, modules: { store: source }, external: ['lmdb', 'pg'] });
    try {
      const text = `
        import { writeSync } from 'node:fs';
        import { ${name} } from './store.mjs';
        async function around(commit) {
          for (let n = 0; n < ${COMMITS}; n++) {
            writeSync(1, 'put\\n');
            await commit();
            writeSync(1, 'acknowledged\\n');
          }
        }
        ${script}
        await store.close();`;
      const program = await bundle.script('flushing.mjs', text);
      const trace = join(folder, 'trace');
      const calls = ['-f', '-qq', '-e', `trace=write,${FLUSHES}`, '-o', trace];
      await promisify(execFile)('strace', [...calls, process.execPath, program, join(folder, 'store')]);
      expect(flushesPerPut(await readFile(trace, 'utf8'))).toEqual(Array.from({ length: COMMITS }, () => true));
    } finally {
      await bundle.remove();
      await rm(folder, { recursive: true });
    }
  });

  it('PostgreSQL has flushed what it has written; with synchronous commit off it has not', async () => {
    const cluster = await PostgresCluster.start('autovacuum=off');
    try {
      expect(await unflushed(cluster, false)).toBeLessThan(COMMITS / 4);
      await cluster.stop();
      await cluster.restart('autovacuum=off', 'synchronous_commit=off', 'wal_writer_delay=10s');
      expect(await unflushed(cluster, true)).toBeGreaterThan(COMMITS / 2);
    } finally {
      await cluster.remove();
    }
  });
});

/** For each put, whether a flush started and succeeded before its acknowledgement. */
function flushesPerPut(trace: string): boolean[] {
  const puts: boolean[] = [];
  const begun = new Set<string>();
  let hasFlushed = false;
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (call.startsWith('write(1, "put')) {
      hasFlushed = false;
      begun.clear();
    } else if (call.startsWith('write(1, "acknowledged')) puts.push(hasFlushed);
    else if (/^(fsync|fdatasync|msync)\(/.test(call)) {
      begun.add(thread);
      hasFlushed ||= call.endsWith('= 0');
    } else if (/^<\.\.\. (fsync|fdatasync|msync) resumed>/.test(call))
      hasFlushed ||= begun.has(thread) && call.endsWith('= 0');
  }
  return puts;
}

/** How many commits found the database's log longer than its flushed part; it rarely writes anything else. */
async function unflushed(cluster: PostgresCluster, allowUnsafeDurability: boolean): Promise<number> {
  const url = await cluster.database();
  const store = new PostgresStore({ url, allowUnsafeDurability });
  const watcher = new pg.Client({ connectionString: url });
  await store.open();
  await watcher.connect();
  try {
    let count = 0;
    for (let n = 0; n < COMMITS; n++) {
      const body = [Buffer.from('x')];
      await store.commit({ ...EMPTY, puts: [{ storedMicros: 1, body, readyMicros: 0, expiresMicros: 0 }] });
      const { rows } = await watcher.query<{ behind: boolean }>(
        'select pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn() as behind',
      );
      if (rows[0]?.behind === true) count++;
    }
    return count;
  } finally {
    await watcher.end();
    await store.close();
  }
}
