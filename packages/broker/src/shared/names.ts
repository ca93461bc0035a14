/**
 * Names that peers bring into a broker: names that are served, and names that are only asked for. Each kind has its own limit, and each client a
 * share of the second, so that no client keeps out workers or other clients. Knows no protocol.
 */
import { latin1 } from '@proj/frames';
import type { Peer } from '@proj/transport';

/** A client's share: it may be the first to ask for this many names, or for this fraction of what is left if that is more. */
const SHARE_MIN = 16;
const SHARE = 0.1;

/**
 * The owner of the share that a peer's names count against: its key, or the connection it shares with others, or itself. A client with many
 * sockets has one share as long as the transport can tell.
 */
export function sharerOf({ publicKey, carrier, key }: Peer): string {
  if (publicKey !== undefined) return `key ${latin1(publicKey)}`;
  return carrier === undefined ? `id ${key}` : `carrier ${carrier}`;
}

/** What is known of one name. Only {@link Names} changes it. */
export interface Name {
  isServed: boolean;
  /** The share it counts against, {@link sharerOf} the first peer that asked, until the name is served. */
  asker: string | undefined;
}

/** Counts names. Every operation is O(1). */
export class Names {
  readonly #max: number;
  readonly #shares = new Map<string, number>();
  #served = 0;
  #asked = 0;

  /** At most `max` served names, and as many that are only asked for. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Served names; never more than `max`. */
  get served(): number {
    return this.#served;
  }

  /** Names that nobody serves; more than `max` if some of them were served before. */
  get asked(): number {
    return this.#asked;
  }

  /** True when this many more names may be served. */
  mayServe(more: number): boolean {
    return this.#served + more <= this.#max;
  }

  /** True when a name that nobody serves may be added; without `asker`, ignores the shares. */
  mayAsk(asker?: string): boolean {
    if (this.#asked >= this.#max) return false;
    return (
      asker === undefined || (this.#shares.get(asker) ?? 0) < Math.max(SHARE_MIN, (this.#max - this.#asked) * SHARE)
    );
  }

  /** A new name, not served yet. */
  add(asker?: string): Name {
    this.#asked++;
    if (asker !== undefined) this.#shares.set(asker, (this.#shares.get(asker) ?? 0) + 1);
    return { isServed: false, asker };
  }

  /** A peer serves the name; others may already do so. */
  serve(name: Name): void {
    if (name.isServed) return;
    this.remove(name);
    name.isServed = true;
    this.#served++;
  }

  /** Nobody serves the name any more. */
  desert(name: Name): void {
    if (!name.isServed) return;
    this.#served--;
    this.#asked++;
    name.isServed = false;
  }

  remove(name: Name): void {
    if (name.isServed) this.#served--;
    else this.#asked--;
    const { asker } = name;
    if (asker === undefined) return;
    name.asker = undefined;
    const share = (this.#shares.get(asker) ?? 0) - 1;
    if (share > 0) this.#shares.set(asker, share);
    else this.#shares.delete(asker);
  }

  /** Throws if the counts do not match `names`, which are all names. Linear. `isBounded`: nothing is served without calling {@link mayServe}. */
  assertInvariants(names: Iterable<Name>, isBounded = true): void {
    const shares = new Map<string, number>();
    let served = 0;
    let asked = 0;
    for (const { isServed, asker } of names) {
      if (isServed) served++;
      else asked++;
      if (asker === undefined) continue;
      if (isServed) throw new Error('a name that is served is part of no share');
      shares.set(asker, (shares.get(asker) ?? 0) + 1);
    }
    if (served !== this.#served || asked !== this.#asked) throw new Error('names are counted');
    if (isBounded && served > this.#max) throw new Error('names that are served are bounded');
    if (shares.size !== this.#shares.size) throw new Error('a client without names has no share');
    for (const [asker, share] of shares) if (this.#shares.get(asker) !== share) throw new Error('shares are counted');
  }
}
