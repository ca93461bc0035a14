/** The list of authorized clients: a folder of certificates or a file of keys, reloaded when it changes. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjError } from '../errors.js';
import { parseCertificate, readCertificate, readSmallFile } from './certificate.js';
import { FollowedFile } from './followed.js';
import { decodeCurveKey } from './z85.js';

/** Settings of {@link authorizedKeys}. */
export interface AuthorizedKeysOptions {
  /** Whether to reload it when it changes. Default true. */
  readonly watch?: boolean;
  /** Limit of keys on the list. Default 100,000. */
  readonly keysMax?: number;
  /** Called with the number of keys after a change was reloaded. */
  readonly onReload?: (size: number) => void;
  /** Called if it could not be reloaded or watched; the list stays as it was. */
  readonly onError?: (error: Error) => void;
}

/** 40 characters and a name each. */
const LIST_BYTES_MAX = 16 * 2 ** 20;
const WHAT = 'authorized keys';

/**
 * Reads a folder whose `*.key` files are certificates, or a file: a certificate, or one Z85 key per line, optionally followed by a comment.
 * Rejects with `OPTIONS_INVALID` if anything in it cannot be read. During a reload such an error leaves the list as it was.
 */
export async function authorizedKeys(path: string, options: AuthorizedKeysOptions = {}): Promise<AuthorizedKeys> {
  const list = new AuthorizedKeys(path, options);
  await list.reload();
  return list;
}

/** A list that is kept up to date, made by {@link authorizedKeys}. */
export class AuthorizedKeys {
  readonly path: string;
  readonly #keysMax: number;
  readonly #followed: FollowedFile;
  readonly #listeners = new Set<() => void>();
  #keys: ReadonlySet<string> = new Set();

  constructor(path: string, options: AuthorizedKeysOptions) {
    this.path = path;
    this.#keysMax = options.keysMax ?? 100_000;
    this.#followed = new FollowedFile({
      path,
      what: WHAT,
      watch: options.watch !== false,
      read: (isFolder) => this.#read(isFolder),
      onReload: () => options.onReload?.(this.size),
      onError: (error) => options.onError?.(error),
    });
  }

  /** Number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /** Whether the list has this key. Usable as `authorize` of a server. */
  readonly has = (publicKey: Uint8Array): boolean => this.#keys.has(nameOf(publicKey));

  /** Calls `listener` after each reload until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Reloads it now. If it is invalid, rejects with `OPTIONS_INVALID` and keeps the list. */
  reload(): Promise<void> {
    return this.#followed.reload();
  }

  /** Stops watching; the list stays as it is. Idempotent. */
  close(): void {
    this.#followed.close();
  }

  /** As {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #read(isFolder: boolean): Promise<void> {
    const keys = isFolder ? await readFolder(this.path) : await readList(this.path);
    if (keys.length > this.#keysMax) throw refused(this.path, `has ${keys.length} keys; the limit is ${this.#keysMax}`);
    this.#keys = new Set(keys.map(nameOf));
    for (const listener of this.#listeners) listener();
  }
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
    // A key may begin with the comment character.
    if (key !== undefined) keys.push(key);
    else if (word !== '' && !word.startsWith('#'))
      throw refused(path, `line ${index + 1} does not begin with a key of 40 characters`);
  }
  return keys;
}

/** Bytes as the key of a set. */
function nameOf(publicKey: Uint8Array): string {
  return Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength).toString('latin1');
}

function refused(path: string, reason: string): ProjError {
  return new ProjError('OPTIONS_INVALID', `${WHAT} ${JSON.stringify(path)}: ${reason}`);
}
