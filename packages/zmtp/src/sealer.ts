/** What one link is to write, sealed in its turns: a long body would hold up everybody else. */
import type { Sealing } from './engine/sealing.js';
import type { Deferred, Turns } from './turn.js';

/** So much is sealed in one turn: well below 5 ms, also without WebAssembly on a machine half as fast as a common one. */
const SLICE_BYTES = 2 ** 18;

/** Seals one batch at a time. */
export class Sealer implements Deferred {
  readonly #turns: Turns;
  readonly #onSealed: (parts: readonly Uint8Array[]) => void;
  #sealing: Sealing | undefined;
  #before: readonly Uint8Array[] = [];
  /** The one of the latest slice. */
  #turn = -1;

  /** Calls `onSealed` with each batch that is sealed. */
  constructor(turns: Turns, onSealed: (parts: readonly Uint8Array[]) => void) {
    this.#turns = turns;
    this.#onSealed = onSealed;
  }

  /**
   * Seals this batch, as much as there is time for at once, and puts it behind what is sealed already; false when the rest has to wait.
   * Not to be called again before it is sealed.
   */
  seal(sealing: Sealing, before: readonly Uint8Array[]): boolean {
    this.#sealing = sealing;
    this.#before = before;
    return this.#seal(sealing);
  }

  /** Seals nothing any more. */
  stop(): void {
    this.#sealing = undefined;
  }

  /** @internal There is nothing to write. */
  onWrite(): void {
    // It never asks for it.
  }

  /** @internal Called when it is its turn. */
  onRead(): void {
    if (this.#sealing === undefined) return;
    if (this.#turn === this.#turns.number) this.#turns.readLater(this, false);
    else this.#seal(this.#sealing);
  }

  #seal(sealing: Sealing): boolean {
    this.#turn = this.#turns.number;
    const isSealed = sealing.step(SLICE_BYTES);
    if (isSealed) {
      this.#sealing = undefined;
      this.#onSealed([...this.#before, ...sealing.parts]);
    } else this.#turns.readLater(this, false);
    return isSealed;
  }
}
