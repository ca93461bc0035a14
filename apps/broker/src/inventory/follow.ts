/** Reloads an inventory when one of its files has changed, and keeps the previous one if that fails. */
import { every } from '@proj/appkit';
import { loadInventory, signatureOf } from './load.js';
import type { LoadedInventory, Seen } from './load.js';

/** Callbacks and settings for a followed inventory. */
export interface Following {
  /** As given to `loadInventory`. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As given to `loadInventory`. */
  readonly templates?: boolean | undefined;
  /** The result of the last `loadInventory`. */
  readonly seen: Seen;
  /** How often to check the files, in milliseconds. */
  readonly intervalMs: number;
  onLoaded(loaded: LoadedInventory): void;
  /** Called once for each change. */
  onFailed(error: unknown): void;
}

/** An inventory that is followed. */
export interface FollowedInventory {
  /**
   * Reloads it now, whether a file has changed or not; calling the resolved function applies it. Rejects with what is wrong, and the
   * previous one stays.
   */
  read(): Promise<() => void>;
  /** Stops following. Idempotent. */
  end(): void;
}

/** Starts following. */
export function followInventory(following: Following): FollowedInventory {
  const { path, env, templates, intervalMs } = following;
  const over = new AbortController();
  let known = following.seen;
  let isLooking = false;
  async function look(): Promise<void> {
    const same = await Promise.all([...known].map(async ([file, before]) => (await signatureOf(file)) === before));
    if (same.every(Boolean)) return;
    known = new Map();
    const result = await loadInventory(path, env, known, templates).catch((error: unknown) => ({ error }));
    if (over.signal.aborted) return;
    if ('error' in result) following.onFailed(result.error);
    else following.onLoaded(result);
  }
  const end = every(intervalMs, () => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  });
  return {
    read: async () => {
      const seen: Seen = new Map();
      const loaded = await loadInventory(path, env, seen, templates);
      return () => {
        known = seen;
        if (!over.signal.aborted) following.onLoaded(loaded);
      };
    },
    end: () => {
      over.abort();
      end();
    },
  };
}
