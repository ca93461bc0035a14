/** What may be opened as a database: looked at before anything is written, since a mapped file that is cut short kills the process. */
import { access, constants, mkdir, open, readdir, stat, statfs, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProjError } from '@proj/transport';
import { RESERVE_BYTES, Room } from './room.js';

/** What a file system or a person may have put there. */
const HARMLESS = /^(lost\+found|\..*)$/;
/** The last pages of a healthy file may be missing when they were given up before they were written. */
const TAIL_MAX_BYTES = 2 ** 20;
/** The holder, what the store says of itself, and the names of the tables. */
const OPENING_BYTES = 2 ** 18;
const META = { magic: 24, version: 28, pageSize: 48, lastPage: 144, txn: 152, end: 160 };
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;

/**
 * Makes sure of the folder and of its only file that matters; `-lock` beside it is made anew when it is missing. Rejects with
 * `CORRUPT` where the folder holds something else, and changes nothing then; with the system's error where that refuses.
 */
export async function prepareFolder(folder: string, file: string): Promise<void> {
  await makeFolder(folder);
  const names = await readdir(folder);
  if (names.includes(file)) {
    const lock = `${file}-lock`;
    // Where it can neither be written to nor made, lmdb-js 3.5.6 kills the process.
    await access(names.includes(lock) ? join(folder, lock) : folder, constants.R_OK | constants.W_OK);
    return checkFile(join(folder, file));
  }
  const foreign = names.find((name) => !HARMLESS.test(name));
  if (foreign !== undefined) throw corrupt(`${folder} holds ${foreign} and no ${file}`);
  await requireRoom(folder);
}

/** Makes a new file's name as durable as what will be in it. */
export async function syncFolder(folder: string): Promise<void> {
  for (const path of [folder, dirname(folder)]) {
    // Some file systems do not know it, and a parent may be closed to us; then there is nothing to be done.
    const handle = await open(path, 'r').catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

/** What is missing of the path too. The `recursive` of Node asks for ever in a folder such as /proc, which says that it is not there. */
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

/** In a folder that is there. */
async function makeIn(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}

async function checkFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const { size: before } = await handle.stat();
    if (before === 0) {
      await requireRoom(dirname(path));
      return;
    }
    const bytes = await expectedBytes(handle, path);
    // The size comes last: another process may be writing.
    const { size } = await stat(path);
    if (size + TAIL_MAX_BYTES < bytes) throw corrupt(`${path} is cut short: ${size} of ${bytes} bytes`);
    if (size < bytes) await truncate(path, bytes);
    await reserve(path, bytes);
  } finally {
    await handle.close();
  }
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

/** The same for a file that is not there yet, and could not be longer than LMDB makes it. */
async function requireRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < RESERVE_BYTES)
    throw new ProjError('WRITE_FAILED', `the disk of ${folder} is full`, { details: { code: 'ENOSPC' } });
}

/** What the newer one of the two meta pages promises. */
async function expectedBytes(handle: FileHandle, path: string): Promise<number> {
  const first = await readMeta(handle, 0);
  const second = first === undefined ? undefined : await readMeta(handle, first.pageSize);
  if (first === undefined || second === undefined) throw corrupt(`${path} is no database`);
  const { lastPage, pageSize } = second.txn > first.txn ? second : first;
  return (lastPage + 1) * pageSize;
}

async function readMeta(handle: FileHandle, at: number) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(META.end), 0, META.end, at);
  if (bytesRead < META.end || buffer.readUInt32LE(META.magic) !== MAGIC) return undefined;
  // The flags of the version beyond its number say how the pages are made.
  if ((buffer.readUInt32LE(META.version) & 0xffff) !== DATA_VERSION) return undefined;
  const pageSize = buffer.readUInt32LE(META.pageSize);
  const [lastPage, txn] = [buffer.readBigUInt64LE(META.lastPage), buffer.readBigUInt64LE(META.txn)].map(Number);
  if (pageSize < 512 || pageSize > 65_536 || lastPage === undefined || txn === undefined) return undefined;
  return { pageSize, lastPage, txn };
}

function corrupt(what: string): ProjError {
  return new ProjError('CORRUPT', `${what}: give the store a folder of its own, or restore it from a copy`);
}
