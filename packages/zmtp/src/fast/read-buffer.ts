/**
 * Replaces Node's buffer of 64 KiB per read by one that all sockets share, and reads long bodies straight to where they belong.
 * Saves: `zmtp-fast`, row "reading". Without it, Node's `data` events bring each chunk, and long bodies are put together by copying.
 */
import type { OnReadOpts } from 'node:net';
import type { ByteSink } from '../wire.js';
import { allocate } from './blocks.js';

const READ_BYTES = 2 ** 16;
const SHARED = new Uint8Array(READ_BYTES);
/** The latest view of it: often as many bytes come the next time. */
let latest = SHARED.subarray(0, 0);

/** The option `onread` of a `net.Socket`. Every byte leaves the shared memory before another socket reads into it. */
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
