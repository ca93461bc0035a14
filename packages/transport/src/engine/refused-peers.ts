/** The peers with most rejected messages, and why, in bounded space: the Space-Saving algorithm of Metwally, Agrawal and El Abbadi. */
import type { Peer } from '../port.js';
import { shown } from './figures.js';
import type { ClientSnapshot } from './snapshot.js';

/** Number of remembered peers. */
const PLACES = 256;

/** A remembered peer. */
interface Place {
  peer: Peer | undefined;
  reasons: Record<string, number>;
  /** Rejections of this peer and of earlier peers in its place: never fewer than its own. */
  count: number;
  index: number;
}

/**
 * Remembers any peer with more than one in 256 of all rejections, however many others there are. Adding is O(1). Counts by reason are exact from
 * when the peer was last added.
 */
export class RefusedPeers {
  readonly #byKey = new Map<string, Place>();
  /** By count, ascending. Empty until the first rejection. */
  readonly #places: Place[] = [];
  /** The index of the last place with each count. */
  readonly #lastWith = new Map<number, number>();

  /** Counts a rejection. */
  add(peer: Peer, reason: string): void {
    const place = this.#byKey.get(peer.key) ?? this.#replaceLeast(peer);
    place.reasons[reason] = (place.reasons[reason] ?? 0) + 1;
    this.#count(place);
  }

  /** The remembered peers and their rejections, in ascending order. */
  *entries(): IterableIterator<readonly [peer: Peer, reasons: Readonly<Record<string, number>>]> {
    for (const { peer, reasons } of this.#places) if (peer !== undefined) yield [peer, reasons];
  }

  /** A copy of this peer's rejections. */
  of(key: string): Readonly<Record<string, number>> {
    return { ...this.#byKey.get(key)?.reasons };
  }

  /** The remembered peers as clients, except those whose key `isShown` elsewhere. */
  clients(isShown: (peer: Peer) => boolean = () => false): ClientSnapshot[] {
    const clients: ClientSnapshot[] = [];
    for (const [peer, reasons] of this.entries())
      if (!isShown(peer)) clients.push({ ...shown(peer), open: 0, refused: { ...reasons } });
    return clients;
  }

  #replaceLeast(peer: Peer): Place {
    if (this.#places.length === 0) {
      for (let index = 0; index < PLACES; index++) this.#places.push({ peer: undefined, reasons: {}, count: 0, index });
      this.#lastWith.set(0, PLACES - 1);
    }
    const least = this.#places[0] as Place;
    if (least.peer !== undefined) this.#byKey.delete(least.peer.key);
    least.peer = peer;
    least.reasons = {};
    this.#byKey.set(peer.key, least);
    return least;
  }

  /** Adds one to its count, as the last of all places with the same count. */
  #count(place: Place): void {
    const { count, index } = place;
    const last = this.#lastWith.get(count) as number;
    const other = this.#places[last] as Place;
    this.#places[index] = other;
    other.index = index;
    this.#places[last] = place;
    place.index = last;
    place.count = count + 1;
    if (this.#places[last - 1]?.count === count) this.#lastWith.set(count, last - 1);
    else this.#lastWith.delete(count);
    if (!this.#lastWith.has(count + 1)) this.#lastWith.set(count + 1, last);
  }
}
