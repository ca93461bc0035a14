/** The list of clients that may come in: a folder of certificates or a file of keys, read again when it changes. */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '@proj/heartbeat';
import type { Timer } from '@proj/heartbeat';
import { ProjError } from '../errors.js';
import { parseCertificate, readCertificate, readSmallFile } from './certificate.js';
import { decodeCurveKey } from './z85.js';

/** Settings of {@link authorizedKeys}. */
export interface AuthorizedKeysOptions {
  /** Read it again when it changes. Default true. */
  readonly watch?: boolean;
  /** Keys on the list; more are an error. Default 100,000. */
  readonly keysMax?: number;
  /** Called with the number of keys after it was read again because it had changed. */
  readonly onReload?: (size: number) => void;
  /** Called when it could not be read again, or not be watched; the list stays as it was. */
  readonly onError?: (error: Error) => void;
}

/** 40 characters and a name each. */
const LIST_BYTES_MAX = 16 * 2 ** 20;
/** One change of a file is several events. */
const SETTLE_MS = 50;

/**
 * Reads a folder, each `*.key` in it being a certificate, or a file: a certificate, or one Z85 key per line with whatever
 * comment behind it. Rejects with `OPTIONS_INVALID` when anything in it cannot be read; when it is read again, such an error
 * leaves the list as it was.
 */
export async function authorizedKeys(path: string, options: AuthorizedKeysOptions = {}): Promise<AuthorizedKeys> {
  const list = new AuthorizedKeys(path, options);
  await list.reload();
  return list;
}

/** A list that is kept up to date. To be made by {@link authorizedKeys}. */
export class AuthorizedKeys {
  readonly path: string;
  readonly #options: AuthorizedKeysOptions;
  #keys: ReadonlySet<string> = new Set();
  #watcher: FSWatcher | undefined;
  #watched: string | undefined;
  #settling: Timer | undefined;
  #stamp = '';
  #reading: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(path: string, options: AuthorizedKeysOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /** Whether the list has this key: fit to be `authorize` of a server. */
  readonly has = (publicKey: Uint8Array): boolean => this.#keys.has(nameOf(publicKey));

  /** Reads it again now. Rejects with `OPTIONS_INVALID`, and the list stays as it was. */
  reload(): Promise<void> {
    const read = this.#reading.then(() => this.#read());
    this.#reading = read.catch(() => undefined);
    return read;
  }

  /** Watches no more; the list stays as it is. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#settling?.cancel();
    this.#unwatch();
  }

  /** As {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #read(): Promise<void> {
    const isFolder = await this.#look();
    const keys = isFolder ? await readFolder(this.path) : await readList(this.path);
    const { keysMax = 100_000 } = this.#options;
    if (keys.length > keysMax) throw refused(this.path, `has ${keys.length} keys, and ${keysMax} are the limit`);
    this.#keys = new Set(keys.map(nameOf));
  }

  /** Tells a folder from a file, and watches it from before it is read, so that no change is missed. */
  async #look(): Promise<boolean> {
    try {
      const about = await stat(this.path);
      this.#stamp = stampOf(about);
      this.#watch(about.isDirectory() ? this.path : dirname(this.path));
      return about.isDirectory();
    } catch (cause) {
      throw refused(this.path, `cannot be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`, cause);
    }
  }

  /** Of a file its folder is watched: who replaces it by another leaves a watcher of the file itself with the old one. */
  #watch(folder: string): void {
    if (this.#options.watch === false || this.#closed || this.#watched === folder) return;
    this.#unwatch();
    try {
      this.#watcher = watch(folder, { persistent: false }, this.#onChange);
      this.#watcher.on('error', (error) => {
        this.#unwatch();
        this.#options.onError?.(error);
      });
      this.#watched = folder;
    } catch (error) {
      this.#options.onError?.(error as Error);
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watched = undefined;
  }

  readonly #onChange = (): void => {
    if (this.#closed) return;
    this.#settling ??= systemClock.at(systemClock.now() + SETTLE_MS, () => {
      this.#settling = undefined;
      void this.#follow();
    });
  };

  /** Never rejects. */
  async #follow(): Promise<void> {
    try {
      if (!(await this.#hasChanged())) return;
      await this.reload();
      if (!this.#closed) this.#options.onReload?.(this.size);
    } catch (error) {
      if (!this.#closed) this.#options.onError?.(error as Error);
    }
  }

  /** Next to a file anything may change. */
  async #hasChanged(): Promise<boolean> {
    const about = await stat(this.path).catch(() => undefined);
    return about === undefined || about.isDirectory() || stampOf(about) !== this.#stamp;
  }
}

function stampOf(about: { readonly ino: number; readonly size: number; readonly mtimeMs: number }): string {
  return `${about.ino} ${about.size} ${about.mtimeMs}`;
}

async function readFolder(path: string): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  for (const name of (await readdir(path)).sort())
    if (name.endsWith('.key')) keys.push((await readCertificate(join(path, name))).publicKey);
  return keys;
}

async function readList(path: string): Promise<Uint8Array[]> {
  const text = await readSmallFile(path, LIST_BYTES_MAX);
  if (/^curve\s*$/m.test(text)) return [parseCertificate(text, path).publicKey];
  const keys: Uint8Array[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const [word = ''] = line.trim().split(/\s/, 1);
    const key = decodeCurveKey(word);
    // A key may itself begin with the mark of a comment.
    if (key !== undefined) keys.push(key);
    else if (word !== '' && !word.startsWith('#'))
      throw refused(path, `line ${index + 1} does not begin with the 40 characters of a key`);
  }
  return keys;
}

/** Bytes as the key of a set. */
function nameOf(publicKey: Uint8Array): string {
  return Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength).toString('latin1');
}

function refused(path: string, reason: string, cause?: unknown): ProjError {
  return new ProjError('OPTIONS_INVALID', `authorized keys ${JSON.stringify(path)}: ${reason}`, { cause });
}
