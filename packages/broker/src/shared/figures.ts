/** Figures of a service and of peers that are refused, for operators: what `stats({ detail: true })` shows. No protocol. */
import { latin1 } from '@proj/frames';
import type { Peer } from '@proj/transport';
import { Histogram } from '@proj/transport/engine';
import type { ServiceSnapshot } from '@proj/transport/engine';

/** Peers remembered for what was refused of them. */
const REFUSED_MAX = 256;

/**
 * A moment in microseconds, of which only differences count. Whole numbers of 32 bits, which V8 stores without an object of their own; differences of more than
 * 35 minutes are wrong.
 */
export function momentOf(now: number): number {
  return (now * 1000) | 0;
}

/** Milliseconds between two moments. */
export function elapsedMs(since: number, now: number): number {
  return ((momentOf(now) - since) | 0) / 1000;
}

/** Running figures of one service. Recording costs a few integer operations, and no memory but that of its histograms. */
export class ServiceMeter {
  requests = 0;
  resends = 0;
  readonly #outcomes: Record<string, number> = {};
  readonly #wait = new Histogram();
  readonly #work = new Histogram();

  /** A worker got a request that had waited since then. */
  dispatched(since: number, now: number): void {
    this.#wait.record(elapsedMs(since, now));
  }

  /** A worker finished a request that it had since then. */
  finished(since: number, now: number): void {
    this.#work.record(elapsedMs(since, now));
    this.ended('ok');
  }

  /** A request ended, or was refused, for this reason. */
  ended(outcome: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
  }

  /** A copy of them. */
  snapshot(): Pick<ServiceSnapshot, 'requests' | 'resends' | 'outcomes' | 'waitMs' | 'workMs'> {
    return {
      requests: this.requests,
      resends: this.resends,
      outcomes: { ...this.#outcomes },
      waitMs: this.#wait.snapshot(),
      workMs: this.#work.snapshot(),
    };
  }
}

/** What was refused of one peer. */
interface Refused {
  readonly peer: Peer;
  readonly reasons: Record<string, number>;
  /** How much counts when room is needed: halved each time it is passed over. */
  weight: number;
}

/** Remembers which peers were refused most, and why, in bounded space. */
export class RefusedPeers {
  readonly #peers = new Map<string, Refused>();

  /** Counts a refusal. */
  add(peer: Peer, reason: string): void {
    let refused = this.#peers.get(peer.key);
    if (refused === undefined) {
      if (this.#peers.size >= REFUSED_MAX) this.#makeRoom();
      refused = { peer, reasons: {}, weight: 0 };
      this.#peers.set(peer.key, refused);
    }
    refused.reasons[reason] = (refused.reasons[reason] ?? 0) + 1;
    refused.weight++;
  }

  /** By routing id: the peer, and what was refused of it. */
  *entries(): IterableIterator<readonly [peer: Peer, reasons: Readonly<Record<string, number>>]> {
    for (const { peer, reasons } of this.#peers.values()) yield [peer, reasons];
  }

  /** What was refused of this peer. */
  of(key: string): Readonly<Record<string, number>> | undefined {
    return this.#peers.get(key)?.reasons;
  }

  /** Forgets the first of the oldest four that was refused once, or else the fourth; those that are passed over go to the back. */
  #makeRoom(): void {
    let tries = 4;
    for (const [key, refused] of this.#peers) {
      this.#peers.delete(key);
      if (refused.weight <= 1 || --tries === 0) return;
      refused.weight >>= 1;
      this.#peers.set(key, refused);
    }
  }
}

/** A routing id for people: as text if it is printable ASCII, in hex if not. */
export function nameOf(peer: Peer): string {
  const text = latin1(peer.id);
  return /^[\x20-\x7e]+$/.test(text) ? text : hexOf(peer);
}

/** True if this is the routing id of the peer, as text or in hex. */
export function isNamed(peer: Peer, name: string): boolean {
  return nameOf(peer) === name || hexOf(peer) === name;
}

function hexOf({ id }: Peer): string {
  return Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
