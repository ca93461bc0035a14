/** Who may act? Whoever has the token. Wrong tokens are limited by address, and compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Wrong tokens of one address in {@link WINDOW_MS} before even the right one is refused. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;
/** Addresses remembered; then all are forgotten at once. */
const ADDRESSES_MAX = 1024;

/** What became of a token. */
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

  /** Looks at the header of a request from `address`. */
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

/** Digests have one length, whatever the token's. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
