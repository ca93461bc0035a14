/** Memory for what is received and sent: small pieces are cut out of blocks, more cheaply than Node's pool does; long ones are used again. */
import { MessageChannel } from 'node:worker_threads';

/** Shorter ones are left to the garbage collector. */
export const LONG_BYTES = 2 ** 14;
/** So much at most is held by one who holds on to a small piece. */
const BLOCK_BYTES = 8192;
/** What lies spare at most; the oldest makes room. */
const SPARES_MAX = 32;
const SPARE_MAX_BYTES = 2 ** 26;

/** Closed: whatever is moved there is gone. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

const NOTHING = new Uint8Array(0);

let block = new ArrayBuffer(0);
let used = BLOCK_BYTES;
const spares: ArrayBuffer[] = [];
let spareBytes = 0;
/** Long pieces as they were handed out: who has this very view has all of the memory. */
const whole = new WeakSet<Uint8Array>();

/** So many bytes, of any content. */
export function allocate(bytes: number): Uint8Array {
  if (bytes === 0) return NOTHING;
  if (bytes >= LONG_BYTES) {
    const memory = allocateLong(bytes);
    whole.add(memory);
    return memory;
  }
  if (bytes > BLOCK_BYTES / 2) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > BLOCK_BYTES) {
    block = new ArrayBuffer(BLOCK_BYTES);
    used = 0;
  }
  const memory = new Uint8Array(block, used, bytes);
  used += bytes;
  return memory;
}

/** So many bytes out of spare memory, else as many new ones as are `enough`; not to be given to {@link reclaim}. */
export function allocateLong(bytes: number, enough = bytes): Uint8Array {
  const spare = takeSpare(bytes);
  return spare === undefined ? Buffer.allocUnsafeSlow(enough) : new Uint8Array(spare, 0, bytes);
}

/** Nobody reads or writes this piece any more, nor any part of it. Does nothing unless it is, as it is, from {@link allocate}. */
export function reclaim(piece: Uint8Array): void {
  if (whole.delete(piece)) keep(piece.buffer as ArrayBuffer);
}

/** What lies spare, of all transports of this process: it is let go when memory is short, and when little comes and goes. */
export const SPARE_MEMORY = {
  get heldBytes(): number {
    return spareBytes;
  },
  relieve(): number {
    const bytes = spareBytes;
    for (const spare of spares.splice(0)) free(spare);
    spareBytes = 0;
    return bytes;
  },
  onRest(): void {
    SPARE_MEMORY.relieve();
  },
};

/** Nobody has this memory any more, and it is not kept: it goes back to the system now, not when garbage is collected. */
export function free(memory: ArrayBuffer): void {
  nowhere.postMessage(undefined, [memory]);
}

/** Nobody has this memory any more. */
export function keep(memory: ArrayBuffer): void {
  spares.push(memory);
  spareBytes += memory.byteLength;
  while (spares.length > SPARES_MAX || spareBytes > SPARE_MAX_BYTES) spareBytes -= spares.shift()?.byteLength ?? 0;
}

/** The latest that is large enough and not much too large. */
function takeSpare(bytes: number): ArrayBuffer | undefined {
  const index = spares.findLastIndex(({ byteLength }) => byteLength >= bytes && byteLength <= 2 * bytes);
  const [spare] = index < 0 ? [] : spares.splice(index, 1);
  spareBytes -= spare?.byteLength ?? 0;
  return spare;
}
