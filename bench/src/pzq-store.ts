/**
 * The PZQ stores compared with a bare log: the same batches, appended to a file with one write and one fdatasync each.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { LmdbStore, PostgresStore } from '@proj/pzq';
import type { Batch, NewMessage, QueueStore, Removal } from '@proj/pzq';
import { PostgresCluster } from '@proj/testkit/postgres';
import { postgresFolder } from '@proj/testkit/postgres-folder';
import { ProcessUnderTest } from './process-under-test.js';
import { median } from './statistics.js';
import type { Report, Skip } from './statistics.js';

const BATCH = 512;
const BODY = Buffer.alloc(100, 7);
const STORED_MICROS = 1_795_199_726_332_593;
const MILLION = 1_000_000;
/** Length, checksum, kind and sequence in front of each record of the log. */
const LOG_HEADER = 17;
const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };

/** Messages per second. */
interface Rates {
  readonly put: number;
  readonly remove: number;
  /** Stored and removed again, in other batches and another order. */
  readonly cycle: number;
}

type Round = (batches: number) => Promise<Rates>;

/** What every store is compared with: it neither reads nor recovers, it only writes. */
export class BareLog {
  readonly #file: FileHandle;
  #seq = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async append(kind: number, bodies: readonly Buffer[]): Promise<void> {
    const memory = Buffer.allocUnsafe(bodies.reduce((sum, { length }) => sum + LOG_HEADER + length, 0));
    let at = 0;
    for (const body of bodies) {
      memory.writeUInt32LE(body.length, at);
      memory[at + 8] = kind;
      memory.writeDoubleLE(++this.#seq, at + 9);
      memory.set(body, at + LOG_HEADER);
      const end = at + LOG_HEADER + body.length;
      memory.writeUInt32LE(crc32(memory.subarray(at + 8, end)), at + 4);
      at = end;
    }
    await this.#file.write(memory);
    await this.#file.datasync();
  }
}

function message(): NewMessage {
  return { storedMicros: STORED_MICROS, body: [BODY], readyMicros: 0, expiresMicros: 0 };
}

/** Does the work for each batch, one after the other; returns messages per second. */
async function rate(batches: number, work: (batch: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let batch = 0; batch < batches; batch++) await work(batch);
  return (batches * BATCH) / ((performance.now() - startedAt) / 1000);
}

function roundOfLog(log: BareLog): Round {
  const bodies = Array.from({ length: BATCH }, () => BODY);
  const marks = Array.from({ length: BATCH }, () => Buffer.alloc(0));
  return async (batches) => {
    const put = await rate(batches, () => log.append(1, bodies));
    const remove = await rate(batches, () => log.append(2, marks));
    return { put, remove, cycle: 1 / (1 / put + 1 / remove) };
  };
}

function roundOfStore(store: QueueStore): Round {
  return async (batches) => {
    const seqs: number[] = [];
    const put = await rate(batches, async () => {
      const { seqs: stored } = await store.commit({ ...EMPTY, puts: Array.from({ length: BATCH }, message) });
      seqs.push(...stored);
    });
    // Consumers do not acknowledge in the order of the store; here they do it in strides.
    const order = seqs.map((_, index) => seqs[(index * 7919) % seqs.length] ?? 0);
    const remove = await rate(batches, (batch) => {
      const removes = order.slice(batch * BATCH, (batch + 1) * BATCH).map(removal);
      return store.commit({ ...EMPTY, removes });
    });
    return { put, remove, cycle: 1 / (1 / put + 1 / remove) };
  };
}

function removal(seq: number): Removal {
  return { seq, storedMicros: STORED_MICROS };
}

/** Medians of both and of their ratio, measured in turn so that both run under the same conditions. */
async function compare(store: Round, log: Round, rounds: number, batches: number) {
  const ours: Rates[] = [];
  const bare: Rates[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [one, other] = [await log(batches), await store(batches)];
    // The first round warms both up.
    if (round === 0) continue;
    bare.push(one);
    ours.push(other);
  }
  const middle = (list: readonly Rates[], what: keyof Rates): number => median(list.map((rates) => rates[what]));
  return (what: keyof Rates) => ({
    bare: middle(bare, what),
    ours: middle(ours, what),
    ratio: median(ours.map((rates, round) => rates[what] / (bare[round]?.[what] ?? Number.NaN))),
  });
}

/** Measures the cost of stores, and the effect of a million messages. */
export async function measurePzqStores(report: Report, skip: Skip): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pzq-bench-'));
  const file = await open(join(folder, 'log'), 'a');
  try {
    const log = roundOfLog(new BareLog(file));
    await lmdb(folder, log, report);
    await million(join(folder, 'million'), report);
    await postgres(log, report, skip);
  } finally {
    await file.close();
    await rm(folder, { recursive: true });
  }
}

async function lmdb(folder: string, log: Round, report: Report): Promise<void> {
  const store = new LmdbStore({ folder: join(folder, 'lmdb') });
  await store.open();
  const result = await compare(roundOfStore(store), log, 7, 100);
  await store.close();
  const batches = `batches of ${BATCH} x ${BODY.length} B`;
  report({ what: `bare log, ${batches}: put`, measured: result('put').bare, unit: '/s' });
  report({ what: `LMDB store, ${batches}: put`, measured: result('put').ours, unit: '/s' });
  report({ what: 'LMDB store over bare log: put', measured: result('put').ratio, unit: 'x', limit: { atLeast: 0.35 } });
  report({ what: 'LMDB store: remove, out of order', measured: result('remove').ours, unit: '/s' });
  report({ what: 'LMDB store over bare log: remove', measured: result('remove').ratio, unit: 'x' });
  report({ what: 'LMDB store: put and remove', measured: result('cycle').ours, unit: '/s' });
  report({ what: 'LMDB store over bare log: put and remove', measured: result('cycle').ratio, unit: 'x' });
}

async function million(folder: string, report: Report): Promise<void> {
  const store = new LmdbStore({ folder });
  await store.open();
  for (let stored = 0; stored < MILLION; stored += 5000)
    await store.commit({ ...EMPTY, puts: Array.from({ length: 5000 }, message) });
  await store.close();
  const again = new LmdbStore({ folder });
  const startedAt = performance.now();
  const { counts } = await again.open();
  await again.scan(0, 10_000, Infinity);
  const seconds = (performance.now() - startedAt) / 1000;
  await again.close();
  const what = `LMDB store of ${counts.messages.toLocaleString('en')} messages: reopen and first 10,000`;
  report({ what, measured: seconds, unit: 's', limit: { atMost: 2 } });
  const queue = await ProcessUnderTest.start('pzq-queue', { environment: { PROJ_BENCH_FOLDER: folder } });
  const { rssBytes } = await queue.measure();
  await queue.stop();
  report({ what: 'PZQ queue with a million messages: resident memory', measured: rssBytes / 2 ** 20, unit: 'MiB' });
}

async function postgres(log: Round, report: Report, skip: Skip): Promise<void> {
  if (postgresFolder() === undefined) {
    skip('PostgreSQL store', 'PostgreSQL (Debian package postgresql)');
    return;
  }
  const cluster = await PostgresCluster.start();
  try {
    const store = new PostgresStore({ url: await cluster.database() });
    await store.open();
    const result = await compare(roundOfStore(store), log, 3, 20);
    await store.close();
    for (const what of ['put', 'remove', 'cycle'] as const) {
      const name = what === 'cycle' ? 'put and remove' : what;
      report({ what: `PostgreSQL store: ${name}`, measured: result(what).ours, unit: '/s' });
      report({ what: `PostgreSQL store over bare log: ${name}`, measured: result(what).ratio, unit: 'x' });
    }
  } finally {
    await cluster.remove();
  }
}
