/** A folder that no path leads out of: symbolic links are resolved, and what was opened is checked again. */
import { constants, existsSync } from 'node:fs';
import type { BigIntStats, Dir } from 'node:fs';
import { open, opendir, readlink, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ProjError } from '@proj/transport';
import { sorted, turn } from './pieces.js';

/** The operating system; tests replace it to change the folder between two calls. */
export interface System {
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<BigIntStats>;
  open(path: string): Promise<FileHandle>;
  opendir(path: string): Promise<Dir>;
  /** The kernel's path of an open handle, without symbolic links. Absent if the kernel does not provide it. */
  pathOf?(handle: FileHandle): Promise<string>;
}

/** Missing or outside. Peers cannot tell which; counters can. */
export interface Absent {
  readonly kind: 'missing' | 'outside';
}

/** A regular file inside. The caller closes the handle. */
export interface Opened {
  readonly kind: 'file';
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
  /** Absolute, without symbolic links. */
  readonly path: string;
}

/** Entries of a directory inside, sorted by name. */
export interface Listing {
  readonly kind: 'directory';
  readonly entries: readonly { readonly name: string; readonly type: 'file' | 'directory' | 'link' | 'other' }[];
}

const MISSING: Absent = { kind: 'missing' };
const OUTSIDE: Absent = { kind: 'outside' };

/** Attempts to open a file that is being replaced. */
const ATTEMPTS = 3;

/** Makes macOS reject symbolic links in any part of a path; Node.js has no name for it. */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x2000_0000 : 0;
/** Never follows a symbolic link, never waits for the writer of a FIFO. Flags that Windows lacks count as 0. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | O_NOFOLLOW_ANY;

/** On Linux, the open handles of this process, as links: reading one gives the path, opening one opens the same file again. */
const OPENED = '/proc/self/fd';

/** Entries per read of a directory, and per turn of the event loop. With Node's default of 32, a read costs as much as its entries. */
const ENTRIES_AT_ONCE = 128;

const NODE: System = {
  realpath: (path) => realpath(path),
  stat: (path) => stat(path, { bigint: true }),
  open: (path) => open(path, READ_ONLY),
  opendir: (path) => opendir(path, { bufferSize: ENTRIES_AT_ONCE }),
  ...(existsSync(OPENED) ? { pathOf: (handle) => readlink(`${OPENED}/${handle.fd}`) } : {}),
};

/** System errors that mean there is nothing we may read. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'ENXIO', 'EINVAL', 'ELOOP']);

/** One folder. Paths are relative, with forward slashes. */
export class Confinement {
  readonly #folder: string;
  readonly #system: System;

  constructor(folder: string, system: System = NODE) {
    this.#folder = folder;
    this.#system = system;
  }

  /** Opens a regular file. A hard link counts as the file itself: whoever can make one inside could also copy the content. */
  async open(path: string): Promise<Opened | Absent> {
    let found: Opened | Absent = MISSING;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      found = await this.#tryOpen(path);
      if (found !== OUTSIDE) break;
    }
    return found;
  }

  /** Names in a directory; `''` is the folder itself. Rejects with `REJECTED` if there are more than `max`. */
  async list(path: string, max: number): Promise<Listing | Absent> {
    const before = await this.#locate(path);
    if (before.kind !== 'inside') return before;
    const entries = await this.#entries(before.path, max).catch(absentOrThrow);
    if ('kind' in entries) return entries;
    // The directory may have been replaced while it was read.
    const after = await this.#locate(path);
    if (after.kind !== 'inside') return after;
    return isSame(before.stats, after.stats) ? { kind: 'directory', entries } : OUTSIDE;
  }

  /** True for a regular file inside, or a symbolic link to one. */
  async isFile(path: string): Promise<boolean> {
    const located = await this.#locate(path);
    return located.kind === 'inside' && located.stats.isFile();
  }

  async #tryOpen(path: string): Promise<Opened | Absent> {
    const located = await this.#locate(path);
    if (located.kind !== 'inside') return located;
    // Opening a FIFO or device can have effects.
    if (!located.stats.isFile()) return MISSING;
    // ELOOP: a symbolic link that was not there a moment ago.
    const handle = await this.#system
      .open(located.path)
      .catch((error: unknown) => (codeOf(error) === 'ELOOP' ? OUTSIDE : absentOrThrow(error)));
    if ('kind' in handle) return handle;
    try {
      if (!(await this.#holds(handle))) {
        await handle.close();
        return OUTSIDE;
      }
      const stats = await handle.stat({ bigint: true });
      const again = await this.#locate(path);
      if (again.kind === 'inside' && stats.isFile() && isSame(stats, again.stats))
        return { kind: 'file', handle, stats, path: again.path };
      await handle.close();
      return again.kind === 'missing' ? MISSING : OUTSIDE;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #locate(path: string): Promise<{ kind: 'inside'; path: string; stats: BigIntStats } | Absent> {
    try {
      const base = await this.#system.realpath(this.#folder);
      const real = await this.#system.realpath(join(base, path));
      return isInside(base, real) ? { kind: 'inside', path: real, stats: await this.#system.stat(real) } : OUTSIDE;
    } catch (error) {
      return absentOrThrow(error);
    }
  }

  /** True if the handle is inside: part of the path may have been a link only while it was opened. */
  async #holds(handle: FileHandle): Promise<boolean> {
    if (this.#system.pathOf === undefined) return true;
    return isInside(await this.#system.realpath(this.#folder), await this.#system.pathOf(handle));
  }

  async #entries(path: string, max: number): Promise<Listing['entries'] | Absent> {
    if (this.#system.pathOf === undefined) return this.#read(path, max);
    const handle = await this.#system.open(path);
    try {
      return (await this.#holds(handle)) ? await this.#read(`${OPENED}/${handle.fd}`, max) : OUTSIDE;
    } finally {
      await handle.close();
    }
  }

  async #read(path: string, max: number): Promise<Listing['entries']> {
    const entries: { name: string; type: 'file' | 'directory' | 'link' | 'other' }[] = [];
    for await (const entry of await this.#system.opendir(path)) {
      if (entries.length >= max)
        throw new ProjError('REJECTED', `a directory has more than ${max} entries: ask for a smaller one`);
      if (entries.length % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await turn();
      const type = entry.isFile()
        ? 'file'
        : entry.isDirectory()
          ? 'directory'
          : entry.isSymbolicLink()
            ? 'link'
            : 'other';
      entries.push({ name: entry.name, type });
    }
    return sorted(entries, (one, other) => (one.name < other.name ? -1 : 1));
  }
}

/** Both without symbolic links. */
function isInside(base: string, path: string): boolean {
  return path === base || path.startsWith(base.endsWith(sep) ? base : base + sep);
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function absentOrThrow(error: unknown): Absent {
  if (ABSENT.has(codeOf(error))) return MISSING;
  if (error instanceof ProjError) throw error;
  throw new ProjError('UNAVAILABLE', `cannot read a file: ${String(error)}`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
