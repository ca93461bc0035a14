/**
 * Replaces the stream's queue, states and ticks for a write of one part, which almost all are: there is never more than one under way.
 * Saves: `zmtp-fast`, row "writing". Without it, and without the undocumented part of Node that it needs, writes go through the stream.
 */
import { NodeSocket } from '../node-socket.js';
import { writeNow } from './internals.js';
import type { Written } from '../wire.js';

/** See {@link NodeSocket}. */
export class DirectSocket extends NodeSocket {
  /** Called once the write under way is over. */
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
