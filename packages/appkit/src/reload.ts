/** SIGHUP: settings are read again, and hold as far as they can without a restart. */
import { isDeepStrictEqual } from 'node:util';
import { reloadEncryption } from './encryption.js';
import type { Logger } from './logging.js';

type Settings = Readonly<Record<string, unknown>>;

/** What a {@link Reload} works with. */
interface ReloadParts<Values extends Settings> {
  readonly log: Logger;
  readonly setLevel: (level: string | undefined) => void;
  /** Settings as they are now: flags and environment stay, the file may have changed. Throws for what is not valid. */
  readonly read: () => Values;
  /** As `Context.onReload`. */
  readonly apply: (settings: Values) => Promise<readonly string[]>;
  /** Those the program has started with. */
  readonly settings: Values;
  /** The flag of an option. */
  readonly flagOf: (key: string) => string;
}

/** Reads settings again, one time after the other. */
export class Reload<Values extends Settings> {
  readonly #parts: ReloadParts<Values>;
  #settings: Settings;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ReloadParts<Values>) {
    this.#parts = parts;
    this.#settings = parts.settings;
  }

  /** Never rejects: what is not valid leaves all as it was, with a line in the log. */
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
      // A key that is revoked is out, whatever else is wrong.
      await reloadEncryption();
      const applied = new Set([...(await apply(next)), 'logLevel']);
      // Last, for it cannot fail: nothing has changed when something did.
      setLevel(next['logLevel'] as string | undefined);
      const isApplied = (key: string) => applied.has(key);
      // What waits for a restart stays changed, and is said each time.
      for (const key of changed.filter(isApplied)) this.#settings = { ...this.#settings, [key]: next[key] };
      const needsRestart = changed.filter((key) => !isApplied(key)).map(flagOf);
      log.info({ changed: changed.filter(isApplied).map(flagOf), needsRestart }, 'reloaded');
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'settings stay as they were');
    }
  }
}
