/**
 * Replaces Node's 64 KiB buffer per read with one shared by all sockets, and reads long bodies straight into place. Saves: `zmtp-fast`, row
 * "reading". Without it, Node's `data` events deliver each chunk, and long bodies are assembled by copying.
 */
import type { OnReadOpts } from 'node:net';
import type { ByteSink } from '../wire.js';
import { allocate } from './spares.js';

const READ_BYTES = 2 ** 16;
const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);
/** The last view of it: the next read often has the same size. */
let latest = SHARED.subarray(0, 0);

/** The option `onread` of a `net.Socket`. All bytes leave the shared memory before another socket reads into it. */
export class ReadBuffer implements OnReadOpts {
  sink: ByteSink | undefined;

  readonly buffer = (): Uint8Array => this.sink?.room ?? SHARED;

  readonly callback = (bytes: number, memory: Uint8Array): boolean => {
    if (memory !== SHARED) {
      this.sink?.onBytes(memory.subarray(0, bytes));
      return true;
    }
    if (latest.length !== bytes) latest = SHARED.subarray(0, bytes);
    const chunk = allocate(bytes);
    chunk.set(latest);
    this.sink?.onBytes(chunk);
    return true;
  };
}
