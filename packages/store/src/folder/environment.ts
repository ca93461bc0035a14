/** The LMDB environment of a store: one file, opened so that a commit resolves when it is flushed. */
import { getSystemErrorName } from 'node:util';
import { ProjError } from '@proj/transport';
import type { Database, RootDatabase } from 'lmdb';

/** The environment, which is also a table with text keys. */
export type Root = RootDatabase<Buffer, string>;

/** A table with binary keys and values. */
export type Table = Database<Buffer, Buffer>;

const META_PAGES = 2;
const MDB_PANIC = -30_795;
/** Errors of LMDB about the file: not found, corrupted, version, invalid. */
const MDB_CORRUPT = [-30_797, -30_796, -30_794, -30_793];

/** Opens or creates the file. Rejects with `UNAVAILABLE` without the driver, and with `CORRUPT` if the file is not a database. */
export async function openRoot(path: string, maxTables: number): Promise<Root> {
  const { open } = await import('lmdb').catch((error: unknown) => {
    throw new ProjError('UNAVAILABLE', 'the package lmdb cannot be loaded: npm install lmdb', {
      cause: error,
    });
  });
  try {
    return open<Buffer, string>(path, {
      encoding: 'binary',
      cache: false,
      maxDbs: maxTables,
      // So that a commit resolves when it is flushed. Overlapping would not help: one commit waits for another.
      overlappingSync: false,
      // We batch ourselves. LMDB's batch of an event turn has its own promise, whose rejection nobody can catch.
      eventTurnBatching: false,
    });
  } catch (error) {
    const { isCorrupt, code } = reasonOf(error);
    const text = `the store ${path} cannot be opened (${code})`;
    throw new ProjError(isCorrupt ? 'CORRUPT' : 'UNAVAILABLE', `${text}: ${(error as Error).message}`, {
      cause: error,
      details: { code },
    });
  }
}

/** Opens or creates a table with binary keys. */
export function openTable(root: Root, name: string): Table {
  return root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false });
}

interface Stats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

interface RootStats extends Stats {
  readonly lastPageNumber: number;
  /** The list of free pages. */
  readonly free: Stats;
}

/** True if nothing was ever written. */
export function isEmpty(root: Root): boolean {
  return (root.getStats() as Stats).entryCount === 0;
}

/** The part of the file that LMDB uses. */
export function usageOf(root: Root): { readonly usedBytes: number; readonly pageSize: number } {
  const { pageSize, lastPageNumber } = root.getStats() as RootStats;
  return { usedBytes: (lastPageNumber + 1) * pageSize, pageSize };
}

/** Free bytes in that part. Asks every table, and needs all of them: too slow for each commit. */
export function freeBytesOf(root: Root, tables: readonly Table[]): number {
  const stats = root.getStats() as RootStats;
  const all = [stats, stats.free, ...tables.map((table) => table.getStats() as Stats)];
  const pages = all.reduce(
    (sum, one) => sum + one.treeBranchPageCount + one.treeLeafPageCount + one.overflowPages,
    META_PAGES,
  );
  return (stats.lastPageNumber + 1 - pages) * stats.pageSize;
}

/** What a failure of the database means. */
export interface Reason {
  /** Name of a system error, such as `ENOSPC`, or `MDB` and a number. */
  readonly code: string;
  /** The environment must be reopened. */
  readonly isPanic: boolean;
  readonly isCorrupt: boolean;
}

/** Reads LMDB's numbers and the system's names. */
export function reasonOf(error: unknown): Reason {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string') return { code, isPanic: false, isCorrupt: false };
  if (typeof code !== 'number') return { code: 'unknown', isPanic: false, isCorrupt: false };
  const name = code > 0 ? getSystemErrorName(-code) : `MDB${code}`;
  return { code: name, isPanic: code === MDB_PANIC, isCorrupt: MDB_CORRUPT.includes(code) };
}

/** LMDB rejects the commit, and also a second promise with the cause, which nobody else awaits. */
export async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<unknown> };
  try {
    await commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
