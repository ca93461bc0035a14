/** Checks of a folder before LMDB opens it: a mapped file that is cut short would kill the process. */
import { access, constants, mkdir, open, readdir, stat, statfs, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ProjError } from '@proj/transport';
import { markerOf, readMarker } from './marker.js';
import type { Marker } from './marker.js';
import { readHeads } from './pages.js';
import { RESERVE_BYTES, Room } from './room.js';

/** Names that a file system or a person may have put there. */
const HARMLESS = /^(lost\+found|\..*)$/;
/** A healthy file may lack its last pages if they were freed before they were written. */
const TAIL_MAX_BYTES = 2 ** 20;
/** Room for the holder, the store's own record, and the names of the tables. */
const OPENING_BYTES = 2 ** 18;

/** What is there before a store is opened. */
export interface Prepared {
  /** Bytes in use of the database; 0 if it is not made yet. */
  readonly usedBytes: number;
  readonly marker: Marker | undefined;
}

/**
 * Makes the folder if needed and checks its file; LMDB makes `-lock` beside it if missing. Rejects with `CORRUPT` if the folder holds
 * something else or has lost its store, and changes nothing then; otherwise with the system's error.
 */
export async function prepareFolder(folder: string, file: string): Promise<Prepared> {
  await makeFolder(folder);
  const names = await readdir(folder);
  const path = join(folder, file);
  const marker = await readMarker(path);
  if (names.includes(file)) {
    const lock = `${file}-lock`;
    // If it can neither be written nor made, lmdb-js 3.5.6 kills the process.
    await access(names.includes(lock) ? join(folder, lock) : folder, constants.R_OK | constants.W_OK);
    return { usedBytes: await checkFile(path, marker), marker };
  }
  if (hasStore(marker)) throw lost(path, 'is gone');
  const own = basename(markerOf(path));
  const foreign = names.find((name) => !HARMLESS.test(name) && name !== own);
  if (foreign !== undefined) throw corrupt(`${folder} holds ${foreign} and no ${file}`);
  await requireRoom(folder);
  return { usedBytes: 0, marker };
}

/** Makes the name of a new file durable. */
export async function syncFolder(folder: string): Promise<void> {
  for (const path of [folder, dirname(folder)]) {
    // Some file systems cannot, and the parent may be closed to us; then nothing can be done.
    const handle = await open(path, 'r').catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

/** Makes missing parents too. Node's `recursive` never ends in a folder such as /proc, which says that it does not exist. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await makeIn(folder);
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent);
    await makeIn(folder);
  }
}

async function makeIn(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}

/** Bytes in use of the file; 0 for an empty one. */
async function checkFile(path: string, marker: Marker | undefined): Promise<number> {
  const { size: before } = await stat(path);
  if (before === 0) {
    if (hasStore(marker)) throw lost(path, 'is empty');
    await requireRoom(dirname(path));
    return 0;
  }
  const bytes = await expectedBytes(path);
  // Size last: another process may be writing.
  const { size } = await stat(path);
  if (size + TAIL_MAX_BYTES < bytes) throw corrupt(`${path} is cut short: ${size} of ${bytes} bytes`);
  if (size < bytes) await truncate(path, bytes);
  await reserve(path, bytes);
  return bytes;
}

function hasStore(marker: Marker | undefined): boolean {
  return marker !== undefined && marker.state !== 'making';
}

/** Opening writes a few pages: see {@link Room}. */
async function reserve(path: string, used: number): Promise<void> {
  const room = await Room.of(path);
  try {
    await room.reach(used + OPENING_BYTES);
  } finally {
    await room.close();
  }
}

/** The same for a file that does not exist yet, which must not be longer than LMDB makes it. */
async function requireRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < RESERVE_BYTES)
    throw new ProjError('WRITE_FAILED', `the disk of ${folder} is full`, { details: { code: 'ENOSPC' } });
}

/** The size by the newer head. */
async function expectedBytes(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    const { newest, damaged } = readHeads(handle.fd);
    if (newest === undefined || damaged.length > 0) throw corrupt(`${path} is no database`);
    return (newest.lastPage + 1) * newest.pageSize;
  } finally {
    await handle.close();
  }
}

function lost(path: string, what: string): ProjError {
  const text = `there was a store in ${dirname(path)}, and its file ${basename(path)} ${what}`;
  const advice = `restore it from a copy, or remove ${markerOf(path)} as well to begin with nothing`;
  return new ProjError('CORRUPT', `${text}: ${advice}`);
}

function corrupt(what: string): ProjError {
  return new ProjError('CORRUPT', `${what}: give the store a folder of its own, or restore it from a copy`);
}
