/** A folder of files: four kinds of request by url, each answered without blocking and within bounds. */
import { stat } from 'node:fs/promises';
import { ProjError } from '@proj/transport';
import { Confinement } from './confinement.js';
import type { Absent, Opened } from './confinement.js';
import { Hashes } from './hashes.js';
import { inPieces } from './pieces.js';
import { Pool } from './pool.js';
import { meaningOf, urlOf } from './url.js';

/** Requests under way: short ones, and long ones (hashing, walks), which must not delay the short ones. */
const READERS = 4;
const LONG_READERS = 2;

/** Options of {@link Files}. */
export interface FilesOptions {
  /** The folder. Symbolic links in the path to it are followed. */
  readonly folder: string;
  /** Limit of waiting requests; more are rejected. Default 1000. */
  readonly queueMax?: number;
  /** Number of remembered MD5 sums. Default 10000. */
  readonly hashesMax?: number;
  /** Limit of entries per directory and of files per walk. Default 100000. */
  readonly entriesMax?: number;
  /** Largest chunk; longer requests get this much. Bytes; default 4 MiB. */
  readonly chunkMax?: number;
}

/** The answer, or nothing. `escape`: it would be outside the folder. */
export type Found<Value> =
  | { readonly found: true; readonly value: Value }
  | { readonly found: false; readonly escape: boolean };

/** Size and content of a file. */
export interface FileDetails {
  /** Lower-case hex. */
  readonly md5: string;
  /** Bytes. */
  readonly size: number;
}

/** A part of a file. */
export interface Chunk {
  /** Empty at or beyond the end of the file. */
  readonly bytes: Uint8Array;
  /** Size of the whole file when it was opened. Bytes. */
  readonly size: number;
}

/** Totals of {@link Files}. */
export interface FilesStats {
  /** Requests for something outside the folder. */
  readonly escapes: number;
}

/**
 * A folder of files for untrusted peers. Never reads anything outside it: not through `..` (encoded or not), absolute paths, drive letters, NUL,
 * backslashes, symbolic links that lead out, or a file that is replaced while it is opened.
 *
 * All methods reject with `QUEUE_FULL` if too many requests wait, `REJECTED` over `entriesMax`, `CLOSED` after `close`, and `UNAVAILABLE` if the
 * disk fails.
 */
export class Files {
  readonly #folder: string;
  readonly #inside: Confinement;
  readonly #hashes: Hashes;
  readonly #readers: Pool;
  readonly #longReaders: Pool;
  readonly #entriesMax: number;
  readonly #chunkMax: number;
  readonly #closed = new AbortController();
  #escapes = 0;

  constructor(options: FilesOptions, inside = new Confinement(options.folder)) {
    const { folder, queueMax = 1000, hashesMax = 10_000, entriesMax = 100_000, chunkMax = 4_194_304 } = options;
    this.#folder = folder;
    this.#inside = inside;
    this.#hashes = new Hashes(hashesMax);
    this.#readers = new Pool(READERS, queueMax);
    this.#longReaders = new Pool(LONG_READERS, queueMax);
    this.#entriesMax = entriesMax;
    this.#chunkMax = chunkMax;
  }

  /** Rejects with `OPTIONS_INVALID` unless the folder exists. Optional: the folder may also appear later. */
  async check(): Promise<void> {
    const stats = await stat(this.#folder).catch((error: unknown) => error);
    if (stats instanceof Error || !(stats as { isDirectory(): boolean }).isDirectory())
      throw new ProjError(
        'OPTIONS_INVALID',
        `${JSON.stringify(this.#folder)}: not a folder; create it, or choose another`,
        {
          cause: stats,
        },
      );
  }

  /** All names in a directory, sorted. */
  list(url: string): Promise<Found<string[]>> {
    return this.#ask(url, this.#readers, async (path) => {
      const listing = await this.#inside.list(path, this.#entriesMax);
      return listing.kind === 'directory' ? listing.entries.map(({ name }) => name) : listing;
    });
  }

  /** Size and MD5 of a file. Hashing, once per content, does not delay other requests. */
  async details(url: string): Promise<Found<FileDetails>> {
    const quick = await this.#ask(url, this.#readers, (path) =>
      this.#withFile(path, (file) => Promise.resolve({ md5: this.#hashes.find(file), size: Number(file.stats.size) })),
    );
    if (!quick.found) return quick;
    const { md5, size } = quick.value;
    if (md5 !== undefined) return { found: true, value: { md5, size } };
    return this.#ask(url, this.#longReaders, (path) =>
      this.#withFile(path, async (file) => ({
        md5: await this.#hashes.compute(file, this.#closed.signal),
        size: Number(file.stats.size),
      })),
    );
  }

  /** Urls of all files below a directory, sorted by name, files before directories. Skips directories behind symbolic links: they may form cycles. */
  walk(url: string): Promise<Found<string[]>> {
    return this.#ask(url, this.#longReaders, async (path) => {
      const urls: string[] = [];
      const waiting = [path.replace(/\/+$/, '')];
      for (let at = waiting.pop(), isFirst = true; at !== undefined; at = waiting.pop(), isFirst = false) {
        this.#closed.signal.throwIfAborted();
        const listing = await this.#inside.list(at, this.#entriesMax);
        // A directory that has been deleted meanwhile has no files.
        if (listing.kind !== 'directory') {
          if (isFirst) return listing;
          continue;
        }
        const folders: string[] = [];
        for await (const entries of inPieces(listing.entries))
          for (const { name, type } of entries) {
            const child = at === '' ? name : `${at}/${name}`;
            if (meaningOf(urlOf(child)).kind !== 'path') continue;
            if (type === 'directory') folders.push(child);
            else if (type === 'file' || (type === 'link' && (await this.#inside.isFile(child))))
              urls.push(urlOf(child));
          }
        waiting.push(...folders.reverse());
        if (urls.length + waiting.length > this.#entriesMax)
          throw new ProjError('REJECTED', `more than ${this.#entriesMax} files: ask for a smaller directory`);
      }
      return urls;
    });
  }

  /** At most `chunkSize` bytes of a file, starting at `offset`. Rejects with `OPTIONS_INVALID` for an invalid offset or size. */
  async read(url: string, offset: number, chunkSize: number): Promise<Found<Chunk>> {
    if (!Number.isSafeInteger(offset) || offset < 0)
      throw new ProjError('OPTIONS_INVALID', `offset = ${offset}: must be a whole number from 0`);
    if (!Number.isSafeInteger(chunkSize) || chunkSize < 1)
      throw new ProjError('OPTIONS_INVALID', `chunk size = ${chunkSize}: must be a whole number from 1`);
    return this.#ask(url, this.#readers, (path) =>
      this.#withFile(path, async ({ handle, stats }) => {
        const size = Number(stats.size);
        const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(chunkSize, this.#chunkMax, size - offset)));
        let length = 0;
        while (length < bytes.length) {
          const { bytesRead } = await handle.read(bytes, length, bytes.length - length, offset + length);
          if (bytesRead === 0) break;
          length += bytesRead;
        }
        return { bytes: bytes.subarray(0, length), size };
      }),
    );
  }

  get stats(): FilesStats {
    return { escapes: this.#escapes };
  }

  /** Rejects waiting requests and hashing under way with `CLOSED`. Idempotent. */
  close(): void {
    this.#closed.abort(new ProjError('CLOSED', 'files: closed'));
  }

  async #ask<Value extends object>(
    url: string,
    pool: Pool,
    answer: (path: string) => Promise<Value | Absent>,
  ): Promise<Found<Value>> {
    this.#closed.signal.throwIfAborted();
    const meaning = meaningOf(url);
    const value =
      meaning.kind === 'path'
        ? await pool.run(() => {
            this.#closed.signal.throwIfAborted();
            return answer(meaning.path);
          })
        : meaning;
    if (!isAbsent(value)) return { found: true, value };
    const escape = value.kind === 'outside';
    if (escape) this.#escapes++;
    return { found: false, escape };
  }

  async #withFile<Value>(path: string, use: (file: Opened) => Promise<Value>): Promise<Value | Absent> {
    const file = await this.#inside.open(path);
    if (file.kind !== 'file') return file;
    try {
      return await use(file);
    } finally {
      await file.handle.close();
    }
  }
}

function isAbsent(value: object): value is Absent {
  return 'kind' in value;
}
