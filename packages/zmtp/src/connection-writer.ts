/**
 * The output of one connection: one write per turn of the event loop, and long encrypted messages in slices, so that other connections are
 * served.
 */
import type { ConnectionEngine } from './engine/engine.js';
import type { Sealing } from './engine/mechanisms/sealing.js';
import type { Pipe } from './pipe.js';
import type { CipherBytes, Encrypting, Turns } from './turn.js';
import type { Watch } from './watch.js';
import type { Wire } from './wire.js';
import type { Writing } from './writers.js';

/** Bytes per write. Limits the copy in memory and the time that the event loop is held up. */
const BATCH_BYTES = 2 ** 20;
/** The same for encrypted traffic, where this many bytes take some milliseconds. */
const SEALED_BATCH_BYTES = 2 ** 18;
/** Bytes encrypted before others have their turn. */
const SLICE_BYTES = 2 ** 16;

/** Writes until a connection is known. A handshake takes three or four. */
const STRANGE_WRITES = 16;

/** The connection that a writer works for. */
export interface WriterOwner {
  readonly pipe: Pipe | undefined;
  /** False once nothing more may be sent. */
  readonly mayWrite: boolean;
  /** A write has finished. */
  onWritten(): void;
}

/** Has at most one write under way. */
export class ConnectionWriter implements Writing, Encrypting {
  readonly #turns: Turns;
  readonly #watch: Watch;
  readonly #wire: Wire;
  readonly #engine: ConnectionEngine;
  readonly #owner: WriterOwner;
  #scheduled = false;
  #writes = 0;
  #writing = false;
  /** Woken during the current write. */
  #again = false;
  #wroteAt = 0;
  /** The batch being encrypted, and the output that goes before it. */
  #sealing: Sealing | undefined;
  #before: readonly Uint8Array[] = [];

  constructor(turns: Turns, watch: Watch, wire: Wire, engine: ConnectionEngine, owner: WriterOwner) {
    this.#turns = turns;
    this.#watch = watch;
    this.#wire = wire;
    this.#engine = engine;
    this.#owner = owner;
  }

  /** True while a write is under way or a batch is being encrypted for one. */
  get isWriting(): boolean {
    return this.#writing;
  }

  /** When the current write began, in the time of the watch. */
  get writingSince(): number | undefined {
    return this.#writing ? this.#wroteAt : undefined;
  }

  /** True once anything was to be written. */
  get hasWritten(): boolean {
    return this.#writes > 0;
  }

  get isStranger(): boolean {
    return this.#writes < STRANGE_WRITES;
  }

  /** Schedules a write for the end of this turn. */
  wake(): void {
    this.#again = this.#writing;
    if (this.#writing || this.#scheduled || !this.#owner.mayWrite) return;
    this.#scheduled = true;
    this.#turns.writeLater(this);
  }

  onWrite(now: number): void {
    this.#scheduled = false;
    this.#writes++;
    this.flush(now);
  }

  /** Writes what is waiting, unless a write is under way. */
  flush(now: number): void {
    if (this.#writing || !this.#owner.mayWrite) return;
    const { pipe } = this.#owner;
    const { sealed } = this.#engine;
    const batch = pipe?.take(sealed ? SEALED_BATCH_BYTES : BATCH_BYTES) ?? [];
    if (batch.length > 0 && sealed) this.#seal(batch);
    else this.#write(this.#engine.take(batch, this.#wire.allocateOutput), now);
  }

  /** Sends the last commands before the connection is cut. Does not wait for them. */
  flushCommands(): void {
    if (!this.#writing) this.#write(this.#engine.takeOutput(), this.#watch.now());
  }

  /** Stops encrypting. */
  stop(): void {
    this.#sealing = undefined;
  }

  onSeal(left: CipherBytes): void {
    const sealing = this.#sealing;
    if (sealing === undefined) return;
    const { sealed } = sealing;
    const isDone = sealing.step(Math.min(SLICE_BYTES, left.left));
    left.left -= sealing.sealed - sealed;
    if (!isDone) {
      if (sealed === 0) this.#owner.pipe?.charge();
      this.#turns.sealLater(this, false);
      return;
    }
    this.#sealing = undefined;
    const parts = [...this.#before, ...sealing.parts];
    if (!this.#owner.mayWrite) return;
    if (parts.length > 0) this.#write(parts, this.#watch.now());
    else this.#onWritten();
  }

  /** Nothing else is written meanwhile: the nonces fix the order. */
  #seal(batch: readonly (readonly Uint8Array[])[]): void {
    this.#before = this.#engine.takeOutput();
    const sealing = this.#engine.seal(batch);
    if (sealing === undefined) return;
    this.#writing = true;
    this.#wroteAt = this.#watch.now();
    this.#sealing = sealing;
    this.#turns.sealLater(this, true);
  }

  #write(parts: readonly Uint8Array[], now: number): void {
    if (parts.length === 0) return;
    this.#writing = true;
    this.#wroteAt = now;
    this.#engine.sent(now);
    this.#wire.send(parts, this.#onWritten);
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error !== undefined && error !== null) return;
    this.#writing = false;
    this.#owner.onWritten();
    if (this.#again) this.wake();
  };
}
