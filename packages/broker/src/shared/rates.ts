/** How often each peer may do something, on average and in a burst. Knows no protocol. */

const SECOND = 1000;

/** Peers and their remaining allowance. A peer with its full allowance is not remembered. Every operation is O(1) on average. */
export class Rates {
  readonly #costMs: number;
  /** By peer: when it has its full allowance again. The peer that came last is the last one. */
  readonly #full = new Map<string, number>();

  /** At most this many a second per peer, and as a burst. */
  constructor(perSecond: number) {
    this.#costMs = SECOND / perSecond;
  }

  /** Number of peers that are remembered. */
  get size(): number {
    return this.#full.size;
  }

  /** Takes one, or returns false if this peer has none left. */
  take(peer: string, now: number): boolean {
    this.#forget(now);
    const full = Math.max(this.#full.get(peer) ?? now, now) + this.#costMs;
    if (full - now > SECOND) return false;
    this.#full.delete(peer);
    this.#full.set(peer, full);
    return true;
  }

  /** Forgets two of the oldest, if they have their full allowance: more than can be added meanwhile. */
  #forget(now: number): void {
    let left = 2;
    for (const [peer, full] of this.#full) {
      if (full > now || left-- === 0) return;
      this.#full.delete(peer);
    }
  }
}
