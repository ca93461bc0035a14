/**
 * Replaces the stream's queue, states and ticks for writes of one part, which almost all are; at most one is under way. Saves: `zmtp-fast`, row
 * "writing". Without it, or without the undocumented part of Node it needs, writes go through the stream.
 */
import { NodeSocket } from '../node-socket.js';
import { writeNow } from './internals.js';
import type { Written } from '../wire.js';

/** See {@link NodeSocket}. */
export class DirectSocket extends NodeSocket {
  /** Called when the current write has finished. */
  #done: Written | undefined;

  override get hasUnsent(): boolean {
    return this.#done !== undefined || super.hasUnsent;
  }

  override send(parts: readonly Uint8Array[], done: Written): void {
    const [only] = parts;
    if (parts.length !== 1 || only === undefined || this.socket.connecting || this.hasUnsent) super.send(parts, done);
    else {
      this.#done = done;
      writeNow(this.socket, only, this.#onSent);
    }
  }

  readonly #onSent = (error?: Error | null): void => {
    const done = this.#done;
    this.#done = undefined;
    if (error !== undefined && error !== null) this.socket.destroy(error);
    if (done !== undefined) this.settle(done, error);
  };
}
