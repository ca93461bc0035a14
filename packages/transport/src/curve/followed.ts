/** A file or folder that is reloaded when it changes. If that fails, the previous contents stay in force. */
import { watch } from 'node:fs';
import type { BigIntStats, FSWatcher } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
// Not the injected clock: real files need real timers, which must not keep the process alive.
import { clearTimeout, setTimeout } from 'node:timers';
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '../errors.js';

/** How to use the file, and what to call. */
export interface Following {
  readonly path: string;
  /** Its name in error messages. */
  readonly what: string;
  /** Whether to reload it when it changes. */
  readonly watch: boolean;
  /** Measures how long a check takes. Default: the system's clock. */
  readonly clock?: Clock;
  /** Applies the contents, or rejects without changing anything. */
  read(isFolder: boolean): Promise<void>;
  /** It was reloaded after a change. */
  onReload(): void;
  /** It could not be reloaded or watched. Called once per state of the disk. */
  onError(error: Error): void;
}

/** A single change of a file causes several events. */
const SETTLE_MS = 50;

/** The system reports only changes in one folder, not a link or parent that now leads elsewhere, so we also poll. */
const LOOK_MS = 2_000;

/** Checks of a large folder are less frequent: they may take this fraction of the time. */
const LOOK_SHARE = 0.02;

/** Number of files of a folder checked at once. */
const LOOK_BATCH = 64;

/**
 * Follows a path from the first `reload` until `close`. Whatever is there counts, however it got there: written in place, renamed, swapped by a
 * link anywhere along the path. A change is noticed at once if the system reports it, and otherwise within two seconds. Does not keep the
 * process alive.
 */
export class FollowedFile {
  readonly #following: Following;
  readonly #clock: Clock;
  #watcher: FSWatcher | undefined;
  #watched: string | undefined;
  #settling: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** What was last read, or could not be read. */
  #stamp = '';
  #reading: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(following: Following) {
    this.#following = following;
    this.#clock = following.clock ?? systemClock;
  }

  /** Reads it now, after any reads under way. Rejects with `OPTIONS_INVALID`, or as `read` does. */
  async reload(): Promise<void> {
    await this.#next(async () => {
      await this.#read(await this.#look());
    });
    if (this.#looking === undefined) this.#lookLater(LOOK_MS);
  }

  /** Stops watching. Idempotent. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#settling);
    clearTimeout(this.#looking);
    this.#unwatch();
  }

  /** One check or read at a time: two checks would read one change twice. */
  #next<Result>(step: () => Promise<Result>): Promise<Result> {
    const taken = this.#reading.then(step);
    this.#reading = taken.catch(() => undefined);
    return taken;
  }

  /** Uses the stamp from before the read, so that a change meanwhile is read again. */
  async #read({ about, stamp }: Look): Promise<void> {
    this.#stamp = stamp;
    const { path, what } = this.#following;
    if ('code' in about)
      throw new ProjError('OPTIONS_INVALID', `${what} ${JSON.stringify(path)}: cannot be read: ${about.code}`);
    await this.#following.read(about.isDirectory());
  }

  async #look(): Promise<Look> {
    const { path } = this.#following;
    const about = await aboutOf(path);
    // Watched before it is read, so that no change is missed.
    if (!('code' in about)) this.#watch(about.isDirectory() ? path : dirname(path), about);
    return { about, stamp: await stampOf(path, about) };
  }

  /** For a file, watches its folder: a watcher of the file itself would stay with the old file when another replaces it. */
  #watch(folder: string, { dev, ino }: BigIntStats): void {
    const watched = `${folder} ${dev} ${ino}`;
    if (!this.#following.watch || this.#closed || this.#watched === watched) return;
    this.#unwatch();
    this.#watched = watched;
    try {
      this.#watcher = watch(folder, { persistent: false }, this.#onChange);
      this.#watcher.on('error', (error) => {
        this.#unwatch();
        this.#following.onError(error);
      });
    } catch {
      // Out of watches, or deleted again: polling has to suffice.
      this.#unwatch();
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watched = undefined;
  }

  readonly #onChange = (): void => {
    if (this.#closed) return;
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      void this.#follow();
    }, SETTLE_MS).unref();
  };

  #lookLater(ms: number): void {
    if (!this.#following.watch || this.#closed) return;
    this.#looking = setTimeout(() => {
      void this.#lookAgain();
    }, ms).unref();
  }

  async #lookAgain(): Promise<void> {
    const from = this.#clock.now();
    await this.#follow();
    this.#lookLater(Math.max(LOOK_MS, (this.#clock.now() - from) / LOOK_SHARE));
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    try {
      const isNew = await this.#next(async () => {
        const look = await this.#look();
        if (this.#closed || look.stamp === this.#stamp) return false;
        await this.#read(look);
        return true;
      });
      if (isNew && !this.#closed) this.#following.onReload();
    } catch (error) {
      if (!this.#closed) this.#following.onError(error as Error);
    }
  }
}

/** The target of a path, following links; or why it could not be read. */
type About = BigIntStats | { readonly code: string };

interface Look {
  readonly about: About;
  readonly stamp: string;
}

function aboutOf(path: string): Promise<About> {
  return stat(path, { bigint: true }).catch((error: unknown) => ({
    code: (error as NodeJS.ErrnoException).code ?? String(error),
  }));
}

/** Distinguishes contents without reading them; for a folder, by its files. */
async function stampOf(path: string, about: About): Promise<string> {
  if ('code' in about || !about.isDirectory()) return signature(about);
  const names = await readdir(path).catch((): string[] => []);
  const stamps = [signature(about)];
  for (let at = 0; at < names.length; at += LOOK_BATCH) {
    const batch = names.slice(at, at + LOOK_BATCH);
    const seen = await Promise.all(batch.map(async (name) => `${name} ${signature(await aboutOf(join(path, name)))}`));
    stamps.push(...seen);
  }
  return stamps.join('\n');
}

function signature(about: About): string {
  if ('code' in about) return about.code;
  return `${about.dev} ${about.ino} ${about.size} ${about.mtimeNs} ${about.ctimeNs}`;
}
