/**
 * Replaces the stream's queue, states and ticks for writes of one part, which almost all are; at most one is under way. Saves: `zmtp-fast`, row
 * "writing". Without it, or without the undocumented part of Node it needs, writes go through the stream.
 */
import { NodeSocket } from '../node-socket.js';
import type { Allocate } from '../engine/framing/bytes.js';
import type { Written } from '../wire.js';
import { writeNow } from './internals.js';
import { allocate } from './spares.js';
import { keepOutput, lendOutput, returnOutput } from './write-buffer.js';

/** See {@link NodeSocket}. */
export class DirectSocket extends NodeSocket {
  /** Called when the current write has finished. */
  #done: Written | undefined;
  #finished = 0;
  /** The kernel took the last output at once. */
  #isQuick = true;

  override get hasUnsent(): boolean {
    return this.#done !== undefined || super.hasUnsent;
  }

  /** An output that has to wait would keep all of the shared memory. */
  override get allocateOutput(): Allocate {
    return this.#isQuick ? lendOutput : allocate;
  }

  override send(parts: readonly Uint8Array[], done: Written): void {
    const [only] = parts;
    if (parts.length !== 1 || only === undefined || this.socket.connecting || this.hasUnsent) {
      for (const part of parts) keepOutput(part);
      super.send(parts, done);
      return;
    }
    this.#done = done;
    const finished = this.#finished;
    writeNow(this.socket, only, this.#onSent);
    this.#isQuick = this.#finished > finished;
    if (this.#isQuick) returnOutput(only);
    else keepOutput(only);
  }

  readonly #onSent = (error?: Error | null): void => {
    const done = this.#done;
    this.#done = undefined;
    this.#finished++;
    if (error !== undefined && error !== null) this.socket.destroy(error);
    if (done !== undefined) this.settle(done, error);
  };
}
