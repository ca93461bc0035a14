/** How sockets connect: as lanes of one connection if the other side accepts them, otherwise with their own connections. */
import { connectOptions } from '../endpoint.js';
import type { Target } from '../endpoint.js';
import { connectSocket } from '../fast.js';
import type { Turns } from '../turn.js';
import type { Watch } from '../watch.js';
import type { Wire } from '../wire.js';
import { Carrier } from './carrier.js';

/** Endpoints remembered besides those in use. */
const MEMORY = 1024;

/** What we know about one endpoint. */
interface Known {
  /** `asking`: the first connection is being made, and its READY will tell. Others wait meanwhile. */
  verdict: 'unknown' | 'asking' | 'plain' | 'lanes';
  readonly waiting: Set<Dial>;
  carrier: Carrier | undefined;
}

interface Dial {
  readonly target: Target;
  readonly use: (wire: Wire) => void;
}

/** Connects all sockets of a transport. */
export class Dialer {
  readonly #world: { readonly turns: Turns; readonly watch: Watch };
  readonly #enabled: boolean;
  readonly #endpoints = new Map<string, Known>();

  /** Unless `enabled`, every socket gets its own connection. */
  constructor(world: { readonly turns: Turns; readonly watch: Watch }, enabled: boolean) {
    this.#world = world;
    this.#enabled = enabled;
  }

  /**
   * Calls `use` with a connection being made: at once, or later if we do not know yet whether there are lanes. In that case, returns a function
   * that cancels.
   */
  dial(endpoint: string, target: Target, use: (wire: Wire) => void): (() => void) | undefined {
    if (!this.#enabled) {
      use(plain(target));
      return undefined;
    }
    const known = this.#known(endpoint);
    if (known.verdict === 'asking') {
      const dial = { target, use };
      known.waiting.add(dial);
      return () => void known.waiting.delete(dial);
    }
    if (known.verdict === 'lanes') {
      use(this.#carrier(known, target).open());
    } else {
      if (known.verdict === 'unknown') known.verdict = 'asking';
      use(plain(target));
    }
    return undefined;
  }

  /** A connection to this endpoint completed its handshake and reported whether there are lanes. */
  onReady(endpoint: string, hasLanes: boolean): void {
    const known = this.#endpoints.get(endpoint);
    if (known === undefined) return;
    known.verdict = hasLanes ? 'lanes' : 'plain';
    for (const { target, use } of this.#release(known))
      use(hasLanes ? this.#carrier(known, target).open() : plain(target));
  }

  /** A connection to this endpoint has ended without an answer: the others do not wait for a second one. */
  onEnded(endpoint: string): void {
    const known = this.#endpoints.get(endpoint);
    if (known?.verdict !== 'asking') return;
    known.verdict = 'unknown';
    for (const { target, use } of this.#release(known)) use(plain(target));
  }

  #release(known: Known): Dial[] {
    const dials = [...known.waiting];
    known.waiting.clear();
    return dials;
  }

  #carrier(known: Known, target: Target): Carrier {
    if (known.carrier !== undefined) return known.carrier;
    return (known.carrier = new Carrier(connectSocket(connectOptions(target)), 'opener', {
      ...this.#world,
      // Opened when a lane needs it; ends with the last lane.
      idleMs: Infinity,
      hasRoom: false,
      onLane: () => undefined,
      onUnread: () => undefined,
      // Another program may listen there next, so the first connection asks again.
      onClosed: () => {
        known.carrier = undefined;
        known.verdict = 'unknown';
      },
    }));
  }

  #known(endpoint: string): Known {
    const found = this.#endpoints.get(endpoint);
    if (found !== undefined) return found;
    if (this.#endpoints.size >= MEMORY)
      for (const [name, { verdict, carrier }] of this.#endpoints)
        if (verdict !== 'asking' && carrier === undefined) this.#endpoints.delete(name);
    const known: Known = { verdict: 'unknown', waiting: new Set(), carrier: undefined };
    this.#endpoints.set(endpoint, known);
    return known;
  }
}

function plain(target: Target): Wire {
  return connectSocket(connectOptions(target));
}
