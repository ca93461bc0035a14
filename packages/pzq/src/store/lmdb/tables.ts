/** The environment of a store: one file, one table per question that is asked of it. */
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { ProjError } from '@proj/transport';
import type { Database, RootDatabase } from 'lmdb';
import { FILE } from './folder.js';

/** A table with binary keys and values. */
export type Table = Database<Buffer, Buffer>;

/** All tables. Those by sequence hold each message once: ready, delayed or dead. */
export interface Tables {
  /** Ledger and holder. */
  readonly root: RootDatabase<Buffer, string>;
  /** Sequence to record, of messages that are ready or in flight. */
  readonly messages: Table;
  readonly delayed: Table;
  readonly dead: Table;
  /** Sequence to packed body, where that is not in the record. */
  readonly bodies: Table;
  /** Sequence to number of deliveries, of messages that were delivered before and wait. */
  readonly deliveries: Table;
  /** What is due when; no values. */
  readonly moments: Table;
  /** Hash of a producer's id to when it is forgotten. */
  readonly ids: Table;
  /** When an id is forgotten, and which; no values. */
  readonly idTimes: Table;
}

const META_PAGES = 2;
const MDB_PANIC = -30_795;
/** Errors of LMDB that say something about the file: not found, corrupted, version, invalid. */
const MDB_CORRUPT = [-30_797, -30_796, -30_794, -30_793];

/** Opens the file, or makes it. Rejects with `UNAVAILABLE` without the driver, `CORRUPT` where the file is no database. */
export async function openRoot(folder: string): Promise<Tables['root']> {
  const { open } = await import('lmdb').catch((error: unknown) => {
    throw new ProjError('UNAVAILABLE', 'the package lmdb cannot be loaded: install it for this platform', {
      cause: error,
    });
  });
  try {
    return open<Buffer, string>(join(folder, FILE), {
      encoding: 'binary',
      cache: false,
      maxDbs: 12,
      // Then the promise of a commit is that of its flush: rule 28. Overlapping would gain nothing, as one commit waits for another.
      overlappingSync: false,
      // Batches are ours. Those of an event turn have a promise of their own, which rejects where nobody can see it.
      eventTurnBatching: false,
    });
  } catch (error) {
    const { isCorrupt, code } = reasonOf(error);
    const text = `the store in ${folder} cannot be opened (${code})`;
    throw new ProjError(isCorrupt ? 'CORRUPT' : 'UNAVAILABLE', `${text}: ${(error as Error).message}`, {
      cause: error,
      details: { code },
    });
  }
}

/** Opens the tables, or makes them. */
export function openTables(root: Tables['root']): Tables {
  const table = (name: string): Table =>
    root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false });
  return {
    root,
    messages: table('messages'),
    delayed: table('delayed'),
    dead: table('dead'),
    bodies: table('bodies'),
    deliveries: table('deliveries'),
    moments: table('moments'),
    ids: table('ids'),
    idTimes: table('id-times'),
  };
}

interface Stats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface RootStats extends Stats {
  readonly lastPageNumber: number;
  /** The list of free pages. */
  readonly free: Stats;
}

/** The part of the file that LMDB has made use of. */
export function usageOf(root: Tables['root']): { readonly usedBytes: number; readonly pageSize: number } {
  const { pageSize, lastPageNumber } = root.getStats() as RootStats;
  return { usedBytes: (lastPageNumber + 1) * pageSize, pageSize };
}

/** What of that is free. Asks every table: not for each commit. */
export function freeBytesOf(tables: Tables): number {
  const root = tables.root.getStats() as RootStats;
  const all = [root.free, ...Object.values(tables).map((table: Table | Tables['root']) => table.getStats() as Stats)];
  const pages = all.reduce(
    (sum, stats) => sum + stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages,
    META_PAGES,
  );
  return (root.lastPageNumber + 1 - pages) * root.pageSize;
}

/** What a failure of the database means. */
export interface Reason {
  /** Name of a system error, such as `ENOSPC`, or `MDB` and a number. */
  readonly code: string;
  /** The environment is of no use any more: it must be opened anew. */
  readonly isPanic: boolean;
  readonly isCorrupt: boolean;
}

/** Reads the numbers that LMDB throws, and the names of the system. */
export function reasonOf(error: unknown): Reason {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string') return { code, isPanic: false, isCorrupt: false };
  if (typeof code !== 'number') return { code: 'unknown', isPanic: false, isCorrupt: false };
  const name = code > 0 ? getSystemErrorName(-code) : `MDB${code}`;
  return { code: name, isPanic: code === MDB_PANIC, isCorrupt: MDB_CORRUPT.includes(code) };
}
