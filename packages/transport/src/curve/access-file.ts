/** Access rules in a JSON file, reloaded when it changes. */
import { ProjError } from '../errors.js';
import { readSmallFile } from './certificate.js';
import { FollowedFile } from './followed.js';

/** Settings of {@link accessFile}. */
export interface AccessFileOptions {
  /** Whether to reload it when it changes. Default true. */
  readonly watch?: boolean;
  /** Called with the reloaded rules. If it throws, `onError` gets the error. */
  readonly onReload?: (rules: unknown) => void;
  /** Called if the file could not be reloaded or watched. */
  readonly onError?: (error: Error) => void;
}

/** A watched file. */
export interface AccessFile {
  /** The parsed JSON when it was opened. Not validated. */
  readonly rules: unknown;
  /** Reloads it now. Rejects with `OPTIONS_INVALID`, without calling `onReload`. */
  reload(): Promise<void>;
  /** Stops watching. Idempotent. */
  close(): void;
}

const FILE_BYTES_MAX = 16 * 2 ** 20;
const WHAT = 'access rules';

/** Opens it. Rejects with `OPTIONS_INVALID` for a file that cannot be read, is over 16 MiB, or is not JSON. */
export async function accessFile(path: string, options: AccessFileOptions = {}): Promise<AccessFile> {
  let rules: unknown;
  const followed = new FollowedFile({
    path,
    what: WHAT,
    watch: options.watch !== false,
    read: async () => {
      rules = parse(await readSmallFile(path, FILE_BYTES_MAX), path);
    },
    onReload: () => options.onReload?.(rules),
    onError: (error) => options.onError?.(error),
  });
  try {
    await followed.reload();
  } catch (error) {
    followed.close();
    throw error;
  }
  return {
    rules,
    reload: async () => {
      await followed.reload();
      options.onReload?.(rules);
    },
    close: () => {
      followed.close();
    },
  };
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ProjError('OPTIONS_INVALID', `${WHAT} ${JSON.stringify(path)}: must be JSON (${reason})`, { cause });
  }
}
