/** Files of somebody else in a folder of ours: fetched once per content, compared by MD5, and no more bytes of them than allowed. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProjError } from '@proj/transport';
import { Files } from './files.js';
import type { FileDetails } from './files.js';
import { globOf } from './glob.js';
import { meaningOf, urlOf } from './url.js';

/** What files that are not whole yet end with. */
const PART = '.fetching';

/** What a {@link FileCache} is made of. */
export interface FileCacheOptions {
  /** The folder, of this cache alone; it is made when the first file comes. */
  readonly folder: string;
  /** Bytes of all files together, those on their way included. At least 1. */
  readonly maxBytes: number;
}

/** Where a file comes from. */
export interface FileSource {
  /** What it is now. Rejects when there is no such file. */
  details(): Promise<FileDetails>;
  /** All of its bytes, in order. */
  chunks(details: FileDetails): AsyncIterable<Uint8Array>;
}

/** A file that stays where it is until it is let go. */
export interface HeldFile {
  /** On this disk. */
  readonly path: string;
  /** May be called again. */
  release(): void;
}

/** What became of {@link FileCache.delete}. */
export interface DeletedFiles {
  /** Paths of files and folders. */
  readonly deleted: string[];
  /** What was not deleted, and why, for people. */
  readonly errors: string[];
}

interface Entry {
  bytes: number;
  /** Who needs it just now. */
  holders: number;
}

/**
 * `nf://a/b.txt` is `a/b.txt` in the folder, also after a restart: what lies there is compared with the source each time, by size and MD5, and
 * fetched again when it differs. When there is no room, files that nobody holds leave, those used longest ago first.
 */
export class FileCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #files: Files;
  /** By relative path; the one used longest ago is the first. */
  readonly #entries = new Map<string, Entry>();
  /** One fetch of a file at a time. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  #bytes = 0;
  #opened: Promise<void> | undefined;

  constructor({ folder, maxBytes }: FileCacheOptions) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#files = new Files({ folder });
  }

  /** Bytes on the disk, and on their way there. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The file of this url, as the source has it now. Rejects with `OPTIONS_INVALID` (no url of a file), `QUEUE_FULL` (it has no room beside those that are held),
   * `PROTOCOL_REMOTE` (not the bytes that were announced), `UNAVAILABLE` (the disk) or as the source does.
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

  /** Deletes files that the pattern fits, and folders with all that is in them, but for what is held. */
  async delete(pattern: string): Promise<DeletedFiles> {
    const fits = globOf(pattern);
    if (fits === undefined)
      return {
        deleted: [],
        errors: [`Pattern ${JSON.stringify(pattern.slice(0, 100))} is none, or leads out of the folder`],
      };
    await (this.#opened ??= this.#scan());
    const result: DeletedFiles = { deleted: [], errors: [] };
    for (const [path, { holders }] of [...this.#entries]) {
      if (!fits(path) && !parentsOf(path).some(fits)) continue;
      const full = join(this.#folder, path);
      if (holders > 0) result.errors.push(`Failed to delete ${full}: a job needs it`);
      else if (await this.#remove(path)) result.deleted.push(full);
      else result.errors.push(`Failed to delete ${full}`);
    }
    return result;
  }

  async #fetch(path: string, url: string, source: FileSource): Promise<HeldFile> {
    const details = await source.details();
    const known = this.#entries.get(path);
    // While it was compared it may have had to leave.
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

  /** Takes the bytes from the account; what has to leave for them leaves. */
  async #makeRoom(path: string, bytes: number): Promise<void> {
    this.#bytes += bytes;
    for (const [other, { holders }] of [...this.#entries]) {
      if (this.#bytes <= this.#maxBytes) return;
      if (holders === 0) await this.#remove(other);
    }
    if (this.#bytes <= this.#maxBytes) return;
    this.#bytes -= bytes;
    const [url, needed] = [urlOf(path), this.#bytes];
    const text = `file ${url} of ${bytes} bytes: no room, since ${needed} of ${this.#maxBytes} bytes are needed by others`;
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
          `file ${url}: what came is not the ${details.size} bytes with MD5 ${details.md5} that were announced; was it changed meanwhile?`,
        );
      const full = join(this.#folder, path);
      await mkdir(dirname(full), { recursive: true });
      await rename(temporary, full);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** False when the disk did not let it go; then it is still ours. */
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

  /** What an earlier process has left: files as they are, the last changed ones last; what was not whole goes. */
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

/** The path below the folder. Throws `OPTIONS_INVALID` for what can be none. */
function pathOf(url: string): string {
  const meaning = meaningOf(url);
  const names = meaning.kind === 'path' ? meaning.path.split('/').filter((name) => name !== '' && name !== '.') : [];
  const isPlain = names.length > 0 && !url.endsWith('/') && names.every((name) => !/[:\p{Cc}\p{Cs}]/u.test(name));
  if (isPlain && !(names.at(-1) as string).endsWith(PART)) return names.join('/');
  throw new ProjError('OPTIONS_INVALID', `url ${JSON.stringify(url)}: must be nf://folder/file without '..'`);
}

/** The folders a path is in. */
function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function noFolder(error: unknown): never[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw asProjError(error, 'folder of fetched files');
}

function asProjError(error: unknown, subject: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof ProjError || typeof code !== 'string') return error;
  return new ProjError('UNAVAILABLE', `${subject}: ${(error as Error).message}`, { cause: error });
}
