/** SIGHUP: reloads the settings and applies those that need no restart. */
import { isDeepStrictEqual } from 'node:util';
import { reloadEncryption } from './encryption.js';
import type { Logger } from './logging.js';

type Settings = Readonly<Record<string, unknown>>;

/** What a {@link Reload} needs. */
interface ReloadParts<Values extends Settings> {
  readonly log: Logger;
  readonly setLevel: (level: string | undefined) => void;
  /** The current settings: flags and environment stay, the file may have changed. Throws if they are invalid. */
  readonly read: () => Values;
  /** As `Context.onReload`. */
  readonly apply: (settings: Values) => Promise<readonly string[]>;
  /** The settings that the program started with. */
  readonly settings: Values;
  /** The flag of an option. */
  readonly flagOf: (key: string) => string;
}

/** Reloads the settings, one reload at a time. */
export class Reload<Values extends Settings> {
  readonly #parts: ReloadParts<Values>;
  #settings: Settings;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ReloadParts<Values>) {
    this.#parts = parts;
    this.#settings = parts.settings;
  }

  /** Never rejects: invalid settings change nothing and are logged. */
  run(): Promise<void> {
    return (this.#running = this.#running.then(() => this.#reload()));
  }

  async #reload(): Promise<void> {
    const { log, setLevel, read, apply, flagOf } = this.#parts;
    try {
      const next = read();
      const changed = Object.keys({ ...this.#settings, ...next }).filter(
        (key) => !isDeepStrictEqual(this.#settings[key], next[key]),
      );
      // First, so that a revoked key is refused even if the rest fails.
      await reloadEncryption();
      const applied = new Set([...(await apply(next)), 'logLevel']);
      // Last, because it cannot fail: after a failure, nothing has changed.
      setLevel(next['logLevel'] as string | undefined);
      const isApplied = (key: string) => applied.has(key);
      // Settings that need a restart are reported on every reload.
      for (const key of changed.filter(isApplied)) this.#settings = { ...this.#settings, [key]: next[key] };
      const needsRestart = changed.filter((key) => !isApplied(key)).map(flagOf);
      log.info({ changed: changed.filter(isApplied).map(flagOf), needsRestart }, 'reloaded');
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'settings were not changed');
    }
  }
}
