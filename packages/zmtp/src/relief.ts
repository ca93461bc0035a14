/** One socket's part in the process's memory budget, and which connections it cuts when memory is short: docs/adr/0026-one-budget-of-memory.md. */
import type { MemoryBudget, MemoryLevel } from '@proj/transport';
import type { Connection } from './connection.js';
import type { Incoming } from './incoming.js';
import type { Watch } from './watch.js';

/** Memory of an idle connection: a node:net socket, the ZMTP engine, and its last received bytes. */
export const CONNECTION_BYTES = 2 ** 14;
/** A peer stands still when a write to it takes longer than this, or its unfinished message has not grown for this long. Milliseconds. */
const STILL_MS = 1000;

/** The socket. */
export interface ReliefHost {
  readonly watch: Watch;
  readonly incoming: Incoming;
  readonly heldBytes: number;
  /** Bytes waiting for the peer of this connection outside its pipe. */
  waitingFor(link: Connection): number;
}

/** Joins the budget until {@link leave}. */
export class Relief {
  readonly #host: ReliefHost;
  readonly #links: ReadonlyMap<Connection, unknown>;
  readonly #leave: (() => void) | undefined;
  #isHalted = false;

  constructor(budget: MemoryBudget | undefined, host: ReliefHost, links: ReadonlyMap<Connection, unknown>) {
    this.#host = host;
    this.#links = links;
    this.#leave = budget?.add({
      get heldBytes() {
        return host.heldBytes + links.size * CONNECTION_BYTES;
      },
      relieve: (bytes, level) => this.#relieve(bytes, level),
      onLevel: (level) => {
        this.#onLevel(level);
      },
    });
  }

  /** True while memory is full: nothing is read. */
  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** The socket is closed. */
  leave(): void {
    this.#leave?.();
  }

  /** Cuts peers that do not read, and then those with unfinished messages. */
  #relieve(bytes: number, level: 'tight' | 'full'): number {
    const { watch, incoming } = this.#host;
    const now = watch.now();
    let relieved = 0;
    for (const link of slowest(this.#links.keys(), now, level)) {
      if (relieved >= bytes) return relieved;
      relieved += this.#host.waitingFor(link) + link.cutUnread();
    }
    if (relieved >= bytes) return relieved;
    return relieved + incoming.relieve(bytes - relieved, now - stillMs(level), level === 'tight');
  }

  #onLevel(level: MemoryLevel): void {
    const isFull = level === 'full';
    if (isFull === this.#isHalted) return;
    this.#isHalted = isFull;
    if (!isFull) this.#host.incoming.onProceed(this.#host.watch.now());
    for (const link of this.#links.keys())
      if (isFull) link.halt();
      else link.proceed();
  }
}

/**
 * Connections with the most unread output first, weighted by how long the peer has read nothing: a peer that gets much and reads comes after one
 * that gets less and does not. All lanes of a connection weigh as much as together. While memory is `tight`, only stalled peers.
 */
export function slowest<Slow extends Pick<Connection, 'unreadBytes' | 'writingSince' | 'carrier'>>(
  links: Iterable<Slow>,
  now: number,
  level: 'tight' | 'full',
): Slow[] {
  const leastMs = stillMs(level);
  const candidates: { readonly link: Slow; readonly weight: number }[] = [];
  for (const link of links) {
    const { unreadBytes, writingSince, carrier } = link;
    if (unreadBytes === 0 || writingSince === undefined || now - writingSince < leastMs) continue;
    candidates.push({ link, weight: (carrier?.outgoing ?? unreadBytes) * (1 + now - writingSince) });
  }
  return candidates.sort((one, other) => other.weight - one.weight).map(({ link }) => link);
}

/** How long peers must have stood still to be cut. */
function stillMs(level: 'tight' | 'full'): number {
  return level === 'full' ? 0 : STILL_MS;
}
