/** Checks the token for actions. Limits wrong tokens per address, and compares in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Wrong tokens from one address in {@link WINDOW_MS} before even the right one is rejected. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;
/** Number of remembered addresses; then all are forgotten at once. */
const ADDRESSES_MAX = 1024;

/** The result of checking a token. */
export type TokenVerdict = 'ok' | 'missing' | 'wrong' | 'too-many';

/** Checks `Authorization: Bearer TOKEN`. */
export class TokenGuard {
  readonly #digest: Buffer;
  readonly #now: () => number;
  readonly #failures = new Map<string, { count: number; until: number }>();

  constructor(token: string, now: () => number = Date.now) {
    this.#digest = digestOf(token);
    this.#now = now;
  }

  /** Checks the header of a request from `address`. */
  check(authorization: string | undefined, address: string): TokenVerdict {
    const failures = this.#failures.get(address);
    const now = this.#now();
    if (failures !== undefined && now < failures.until && failures.count >= FAILURES_MAX) return 'too-many';
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return 'missing';
    if (timingSafeEqual(digestOf(given), this.#digest)) return 'ok';
    if (failures !== undefined && now < failures.until) failures.count++;
    else {
      if (this.#failures.size >= ADDRESSES_MAX) this.#failures.clear();
      this.#failures.set(address, { count: 1, until: now + WINDOW_MS });
    }
    return 'wrong';
  }
}

/** Digests have the same length, whatever the token's. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
