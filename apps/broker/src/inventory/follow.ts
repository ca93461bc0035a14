/** Loads an inventory again when one of its files has changed, and keeps the one before when that fails. */
import { every } from '@proj/appkit';
import { loadInventory, signatureOf } from './load.js';
import type { LoadedInventory, Seen } from './load.js';

/** What happens to an inventory that is followed. */
export interface Following {
  /** As given to `loadInventory`. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As given to `loadInventory`. */
  readonly templates?: boolean | undefined;
  /** As the last `loadInventory` left it. */
  readonly seen: Seen;
  /** How often the files are looked at, in milliseconds. */
  readonly intervalMs: number;
  onLoaded(loaded: LoadedInventory): void;
  /** Once for each change. */
  onFailed(error: unknown): void;
}

/** An inventory that is followed. */
export interface FollowedInventory {
  /**
   * Loads it again now, whether a file has changed or not; what it resolves to puts it in force. Rejects with what is wrong with it, and the
   * one before stays.
   */
  read(): Promise<() => void>;
  /** Follows it no more. Idempotent. */
  end(): void;
}

/** Begins. */
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
