/** Files of a remote source in a local folder: fetched once per content, compared by MD5, bounded in bytes. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProjError } from '@proj/transport';
import { Files } from './files.js';
import type { FileDetails } from './files.js';
import { globOf } from './glob.js';
import { meaningOf, urlOf } from './url.js';

/** Suffix of incomplete files. */
const PART = '.fetching';

/** Options of {@link FileCache}. */
export interface FileCacheOptions {
  /** The folder, used by this cache alone; created with the first file. */
  readonly folder: string;
  /** Limit of all files together, including fetches under way. Bytes, at least 1. */
  readonly maxBytes: number;
}

/** The source of a file. */
export interface FileSource {
  /** The current version of the file. Rejects if there is none. */
  details(): Promise<FileDetails>;
  /** All of its bytes, in order. */
  chunks(details: FileDetails): AsyncIterable<Uint8Array>;
}

/** A file that stays in place until released. */
export interface HeldFile {
  readonly path: string;
  /** Idempotent. */
  release(): void;
}

/** The result of {@link FileCache.delete}. */
export interface DeletedFiles {
  /** Paths of files and folders. */
  readonly deleted: string[];
  /** What was not deleted, and why, as text for people. */
  readonly errors: string[];
}

interface Entry {
  bytes: number;
  holders: number;
}

/**
 * `nf://a/b.txt` is cached as `a/b.txt` in the folder and survives restarts. Each use compares it with the source by size and MD5, and fetches
 * it again if it differs. To make room, files that are not held are deleted, least recently used first.
 */
export class FileCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #files: Files;
  /** By relative path, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** One fetch per file at a time. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  #bytes = 0;
  #opened: Promise<void> | undefined;

  constructor({ folder, maxBytes }: FileCacheOptions) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#files = new Files({ folder });
  }

  /** Bytes on disk and in fetches under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The current version of this url's file. Rejects with `OPTIONS_INVALID` (not a file url), `QUEUE_FULL` (no room beside held files),
   * `PROTOCOL_REMOTE` (not the announced bytes), `UNAVAILABLE` (the disk), or as the source does.
   */
  async fetch(url: string, source: FileSource): Promise<HeldFile> {
    const path = pathOf(url);
    await (this.#opened ??= this.#scan());
    const before = this.#underWay.get(path);
    const mine = (before ?? Promise.resolve()).catch(() => undefined).then(() => this.#fetch(path, url, source));
    this.#underWay.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.#underWay.get(path) === mine) this.#underWay.delete(path);
    }
  }

  /** Deletes files and whole folders that match the pattern, except files that are held. */
  async delete(pattern: string): Promise<DeletedFiles> {
    const fits = globOf(pattern);
    if (fits === undefined)
      return {
        deleted: [],
        errors: [`Pattern ${JSON.stringify(pattern.slice(0, 100))} is invalid, or leads out of the folder`],
      };
    await (this.#opened ??= this.#scan());
    const result: DeletedFiles = { deleted: [], errors: [] };
    for (const [path, { holders }] of [...this.#entries]) {
      if (!fits(path) && !parentsOf(path).some(fits)) continue;
      const full = join(this.#folder, path);
      if (holders > 0) result.errors.push(`Failed to delete ${full}: a job is using it`);
      else if (await this.#remove(path)) result.deleted.push(full);
      else result.errors.push(`Failed to delete ${full}`);
    }
    return result;
  }

  async #fetch(path: string, url: string, source: FileSource): Promise<HeldFile> {
    const details = await source.details();
    const known = this.#entries.get(path);
    // It may have been deleted during the comparison.
    if (known?.bytes === details.size && (await this.#isSame(path, details)) && this.#entries.get(path) === known)
      return this.#hold(path, known);
    const { size: bytes } = details;
    await this.#makeRoom(path, bytes);
    try {
      await this.#write(path, url, source, details);
    } catch (error) {
      this.#bytes -= bytes;
      throw asProjError(error, `file ${url}`);
    }
    const entry = this.#entries.get(path) ?? { bytes: 0, holders: 0 };
    this.#bytes -= entry.bytes;
    entry.bytes = bytes;
    return this.#hold(path, entry);
  }

  async #isSame(path: string, { md5 }: FileDetails): Promise<boolean> {
    const found = await this.#files.details(urlOf(path));
    return found.found && found.value.md5 === md5;
  }

  #hold(path: string, entry: Entry): HeldFile {
    this.#entries.delete(path);
    this.#entries.set(path, entry);
    entry.holders++;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) entry.holders--;
      isHeld = false;
    };
    return { path: join(this.#folder, path), release };
  }

  /** Reserves the bytes and deletes files to make room. */
  async #makeRoom(path: string, bytes: number): Promise<void> {
    this.#bytes += bytes;
    for (const [other, { holders }] of [...this.#entries]) {
      if (this.#bytes <= this.#maxBytes) return;
      if (holders === 0) await this.#remove(other);
    }
    if (this.#bytes <= this.#maxBytes) return;
    this.#bytes -= bytes;
    const [url, needed] = [urlOf(path), this.#bytes];
    const text = `file ${url} of ${bytes} bytes: no room, because ${needed} of ${this.#maxBytes} bytes are in use`;
    throw new ProjError('QUEUE_FULL', text);
  }

  async #write(path: string, url: string, source: FileSource, details: FileDetails): Promise<void> {
    const temporary = join(this.#folder, `.${randomUUID()}${PART}`);
    await mkdir(this.#folder, { recursive: true });
    const file = await open(temporary, 'wx');
    try {
      const hash = createHash('md5');
      let bytes = 0;
      try {
        for await (const chunk of source.chunks(details)) {
          bytes += chunk.length;
          if (bytes > details.size) break;
          hash.update(chunk);
          await file.writeFile(chunk);
        }
      } finally {
        await file.close();
      }
      if (bytes !== details.size || hash.digest('hex') !== details.md5)
        throw new ProjError(
          'PROTOCOL_REMOTE',
          `file ${url}: expected ${details.size} bytes with MD5 ${details.md5}, but received others; the file may have changed meanwhile`,
        );
      const full = join(this.#folder, path);
      await mkdir(dirname(full), { recursive: true });
      await rename(temporary, full);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** False if the disk refuses; the file then stays in the cache. */
  async #remove(path: string): Promise<boolean> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return false;
    this.#entries.delete(path);
    try {
      await rm(join(this.#folder, path), { force: true });
    } catch {
      this.#entries.set(path, entry);
      return false;
    }
    this.#bytes -= entry.bytes;
    return true;
  }

  /** Takes over the files of an earlier process, oldest change first, and deletes incomplete ones. */
  async #scan(): Promise<void> {
    const found: { readonly path: string; readonly bytes: number; readonly changedAt: number }[] = [];
    const names = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(noFolder);
    for (const entry of names) {
      if (!entry.isFile()) continue;
      const full = join(entry.parentPath, entry.name);
      if (entry.name.startsWith('.') && entry.name.endsWith(PART)) await rm(full, { force: true });
      else {
        const { size, mtimeMs } = await stat(full);
        const path = full.slice(join(this.#folder, '/').length).replaceAll('\\', '/');
        found.push({ path, bytes: size, changedAt: mtimeMs });
      }
    }
    for (const { path, bytes } of found.sort((a, b) => a.changedAt - b.changedAt)) {
      this.#entries.set(path, { bytes, holders: 0 });
      this.#bytes += bytes;
    }
  }
}

/** The relative path. Throws `OPTIONS_INVALID` for any other url. */
function pathOf(url: string): string {
  const meaning = meaningOf(url);
  const names = meaning.kind === 'path' ? meaning.path.split('/').filter((name) => name !== '' && name !== '.') : [];
  const isPlain = names.length > 0 && !url.endsWith('/') && names.every((name) => !/[:\p{Cc}\p{Cs}]/u.test(name));
  if (isPlain && !(names.at(-1) as string).endsWith(PART)) return names.join('/');
  throw new ProjError('OPTIONS_INVALID', `url ${JSON.stringify(url)}: must be nf://folder/file without '..'`);
}

/** The folders that contain a path. */
function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function noFolder(error: unknown): never[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw asProjError(error, 'cache folder');
}

function asProjError(error: unknown, subject: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof ProjError || typeof code !== 'string') return error;
  return new ProjError('UNAVAILABLE', `${subject}: ${(error as Error).message}`, { cause: error });
}
