/** A file or folder that is read again when it changes: what was read before stays in force when that fails. */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemClock } from '@proj/heartbeat';
import type { Timer } from '@proj/heartbeat';
import { ProjError } from '../errors.js';

/** What happens to it. */
export interface Following {
  readonly path: string;
  /** What it is, for messages of errors. */
  readonly what: string;
  /** Whether to read it again when it changes. */
  readonly watch: boolean;
  /** Takes the contents over, or rejects and changes nothing. */
  read(isFolder: boolean): Promise<void>;
  /** It was read again because it had changed. */
  onReload(): void;
  /** It could not be read again, or not be watched. */
  onError(error: Error): void;
}

/** One change of a file is several events. */
const SETTLE_MS = 50;

/** Follows it from the first `reload` on, until `close`. */
export class Followed {
  readonly #following: Following;
  #watcher: FSWatcher | undefined;
  #watched: string | undefined;
  #settling: Timer | undefined;
  #stamp = '';
  #reading: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(following: Following) {
    this.#following = following;
  }

  /** Reads it now, after whatever reads are under way. Rejects with `OPTIONS_INVALID`, or with what `read` says. */
  reload(): Promise<void> {
    return this.#next(() => this.#read());
  }

  /** Watches no more. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#settling?.cancel();
    this.#unwatch();
  }

  /** One look or read at a time: two looks at one change would read it twice. */
  #next<Result>(step: () => Promise<Result>): Promise<Result> {
    const taken = this.#reading.then(step);
    this.#reading = taken.catch(() => undefined);
    return taken;
  }

  async #read(): Promise<void> {
    await this.#following.read(await this.#look());
  }

  /** Tells a folder from a file, and watches it from before it is read, so that no change is missed. */
  async #look(): Promise<boolean> {
    const { path, what } = this.#following;
    try {
      const about = await stat(path);
      this.#stamp = stampOf(about);
      this.#watch(about.isDirectory() ? path : dirname(path));
      return about.isDirectory();
    } catch (cause) {
      const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new ProjError('OPTIONS_INVALID', `${what} ${JSON.stringify(path)}: cannot be read: ${reason}`, { cause });
    }
  }

  /** Of a file its folder is watched: who replaces it by another leaves a watcher of the file itself with the old one. */
  #watch(folder: string): void {
    if (!this.#following.watch || this.#closed || this.#watched === folder) return;
    this.#unwatch();
    try {
      this.#watcher = watch(folder, { persistent: false }, this.#onChange);
      this.#watcher.on('error', (error) => {
        this.#unwatch();
        this.#following.onError(error);
      });
      this.#watched = folder;
    } catch (error) {
      this.#following.onError(error as Error);
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
      const isNew = await this.#next(async () => {
        if (!(await this.#hasChanged())) return false;
        await this.#read();
        return true;
      });
      if (isNew && !this.#closed) this.#following.onReload();
    } catch (error) {
      if (!this.#closed) this.#following.onError(error as Error);
    }
  }

  /** Next to a file anything may change. */
  async #hasChanged(): Promise<boolean> {
    const about = await stat(this.#following.path).catch(() => undefined);
    return about === undefined || about.isDirectory() || stampOf(about) !== this.#stamp;
  }
}

function stampOf(about: { readonly ino: number; readonly size: number; readonly mtimeMs: number }): string {
  return `${about.ino} ${about.size} ${about.mtimeMs}`;
}
