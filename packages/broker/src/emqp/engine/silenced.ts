/** EventMQ broker, rules 6 and 8: peers that are not registered and are told nothing. No protocol decisions. */
import type { EmqpParty } from './events.js';

/** `left`: it said farewell. `former`: it believes it is registered, and is not. */
export type Silence = 'left' | 'former';

/** Bound; beyond it the oldest is forgotten. */
const SILENCED_MAX = 100_000;

/** Silenced peers, and why. Usually empty: then it costs nothing. */
export class Silenced {
  readonly #why = new Map<string, Silence>();

  get size(): number {
    return this.#why.size;
  }

  why(party: EmqpParty): Silence | undefined {
    return this.#why.size === 0 ? undefined : this.#why.get(keyOf(party));
  }

  add(party: EmqpParty, why: Silence): void {
    this.#why.set(keyOf(party), why);
    for (const oldest of this.#why.keys()) {
      if (this.#why.size <= SILENCED_MAX) break;
      this.#why.delete(oldest);
    }
  }

  /** The peer begins anew, or its connection has ended. */
  remove(party: EmqpParty): void {
    if (this.#why.size > 0) this.#why.delete(keyOf(party));
  }
}

function keyOf({ port, peer }: EmqpParty): string {
  return `${port} ${peer.key}`;
}
