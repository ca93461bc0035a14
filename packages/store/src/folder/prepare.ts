/** Checks a folder before LMDB opens it: a truncated mapped file would kill the process. */
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

/** The state of the folder before a store is opened. */
export interface Prepared {
  /** Bytes in use in the database; 0 if it does not exist yet. */
  readonly usedBytes: number;
  readonly marker: Marker | undefined;
}

/**
 * Creates the folder if needed and checks its file; LMDB creates `-lock` beside it if missing. Rejects with `CORRUPT` if the folder holds
 * something else or has lost its store, without changing anything; otherwise with the system's error.
 */
export async function prepareFolder(folder: string, file: string): Promise<Prepared> {
  await makeFolder(folder);
  const names = await readdir(folder);
  const path = join(folder, file);
  const marker = await readMarker(path);
  if (names.includes(file)) {
    const lock = `${file}-lock`;
    // If it can be neither written nor created, lmdb-js 3.5.6 kills the process.
    await access(names.includes(lock) ? join(folder, lock) : folder, constants.R_OK | constants.W_OK);
    return { usedBytes: await checkFile(path, marker), marker };
  }
  if (hasStore(marker)) throw lost(path, 'is gone');
  const own = basename(markerOf(path));
  const foreign = names.find((name) => !HARMLESS.test(name) && name !== own);
  if (foreign !== undefined) throw corrupt(`${folder} holds ${foreign} but no ${file}`);
  await requireRoom(folder);
  return { usedBytes: 0, marker };
}

/** Makes the directory entry of a new file durable. */
export async function syncFolder(folder: string): Promise<void> {
  for (const path of [folder, dirname(folder)]) {
    // Some file systems cannot do this, and the parent may be inaccessible; nothing can be done then.
    const handle = await open(path, 'r').catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

/** Also creates missing parents. Node's `recursive` never ends in a folder such as /proc, which says that it does not exist. */
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

/** Bytes in use in the file; 0 for an empty one. */
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
  if (size + TAIL_MAX_BYTES < bytes) throw corrupt(`${path} is truncated: ${size} of ${bytes} bytes`);
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

/** The same for a file that does not exist yet, which must not be longer than what LMDB creates. */
async function requireRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < RESERVE_BYTES)
    throw new ProjError('WRITE_FAILED', `the disk of ${folder} is full`, { details: { code: 'ENOSPC' } });
}

/** The size according to the newer meta page. */
async function expectedBytes(path: string): Promise<number> {
  const handle = await open(path, 'r');
  try {
    const { newest, damaged } = readHeads(handle.fd);
    if (newest === undefined || damaged.length > 0) throw corrupt(`${path} is not a database`);
    return (newest.lastPage + 1) * newest.pageSize;
  } finally {
    await handle.close();
  }
}

function lost(path: string, what: string): ProjError {
  const text = `there was a store in ${dirname(path)}, and its file ${basename(path)} ${what}`;
  const advice = `restore it from a copy, or also remove ${markerOf(path)} to start empty`;
  return new ProjError('CORRUPT', `${text}: ${advice}`);
}

function corrupt(what: string): ProjError {
  return new ProjError('CORRUPT', `${what}: give the store its own folder, or restore it from a copy`);
}
