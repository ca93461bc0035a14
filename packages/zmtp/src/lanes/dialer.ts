/** How sockets connect: by lanes of one connection if the other side offers them, else by connections of their own. */
import { connectOptions } from '../endpoint.js';
import type { Target } from '../endpoint.js';
import { connectSocket } from '../fast.js';
import type { Turns } from '../turn.js';
import type { Watch } from '../watch.js';
import type { Wire } from '../wire.js';
import { Carrier } from './carrier.js';

/** Endpoints remembered beyond those in use. */
const MEMORY = 1024;

/** What we know of one endpoint. */
interface Known {
  /** `asking`: the first connection is being made, and its READY will tell. Those who come meanwhile wait. */
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

  /** Unless `enabled`, every socket has a connection of its own. */
  constructor(world: { readonly turns: Turns; readonly watch: Watch }, enabled: boolean) {
    this.#world = world;
    this.#enabled = enabled;
  }

  /**
   * Calls `use` with a connection that is being made: at once, or later if we do not know yet whether there are lanes. Then it returns a function
   * that gives up.
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

  /** A connection to there has completed its handshake, and was told whether there are lanes. */
  onReady(endpoint: string, hasLanes: boolean): void {
    const known = this.#endpoints.get(endpoint);
    if (known === undefined) return;
    known.verdict = hasLanes ? 'lanes' : 'plain';
    for (const { target, use } of this.#release(known))
      use(hasLanes ? this.#carrier(known, target).open() : plain(target));
  }

  /** A connection to there is over. Nobody waits for a second one to tell. */
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
      // It is opened for a lane and ends with the last one.
      idleMs: Infinity,
      hasRoom: false,
      onLane: () => undefined,
      onUnread: () => undefined,
      // Another program may listen there next: the first connection asks again.
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
