/**
 * Replaces garbage collection of long pieces of memory: they are kept for reuse, because V8 marks the whole heap for every few of them. Saves:
 * `zmtp-fast`, row "spares" (docs/adr/0016-long-bodies-are-given-back.md). Without it, all of them are garbage-collected.
 */
import { MessageChannel } from 'node:worker_threads';
import { isMapped, mapMemory } from '@proj/transport/adapter';

/** Shorter pieces are left to the garbage collector. */
export const LONG_BYTES = 2 ** 14;
/** The most that is kept; the oldest piece makes room, and is freed. */
const SPARES_MAX = 32;
const SPARE_MAX_BYTES = 2 ** 26;

/** Closed: memory transferred to it is freed. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

const spares: ArrayBuffer[] = [];
let spareBytes = 0;
/** Chunks as handed out. A view in this set owns its whole memory. */
const chunks = new WeakSet<Uint8Array>();

/** Uninitialized memory of the given size; a chunk that {@link reclaim} takes back if it is long, a piece of Node's pool if it is short. */
export function allocate(bytes: number): Uint8Array {
  if (bytes < LONG_BYTES) return Buffer.allocUnsafe(bytes);
  const chunk = takeLong(bytes);
  chunks.add(chunk);
  return chunk;
}

/** Spare memory of `bytes`, or else `enough` new bytes; do not pass it to {@link reclaim}. */
export function takeLong(bytes: number, enough = bytes): Uint8Array {
  const spare = takeSpare(bytes, false);
  return spare === undefined ? Buffer.allocUnsafeSlow(enough) : new Uint8Array(spare, 0, bytes);
}

/** Like {@link takeLong}, with memory that leaves the process as soon as it is freed, as long as there are few such pieces. */
export function takeMapped(bytes: number, enough: number): Uint8Array {
  const spare = takeSpare(bytes, true);
  if (spare !== undefined) return new Uint8Array(spare, 0, bytes);
  return mapMemory(enough, Number.isFinite(bytes) ? bytes : enough) ?? takeLong(bytes, enough);
}

/** Nobody uses this chunk, or any part of it, any more. Ignores anything but chunks from {@link allocate}, unsliced. */
export function reclaim(chunk: Uint8Array): void {
  if (chunks.delete(chunk)) keep(chunk.buffer as ArrayBuffer);
}

/** The spare memory of all transports of this process. Freed when memory is short and when the process is idle. */
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

/** V8 marks its heap for 8 MiB of new memory or more, whatever it frees in between. */
const MOVED_UNNOTICED_BYTES = 2 ** 22;

/**
 * Moves memory to a new buffer and leaves the old one empty. To V8, a move frees the bytes and then takes new ones, so it would mark the heap for
 * every long body. Ballast of the same size, which nobody touches, keeps the sum from falling in between.
 */
export function move(memory: ArrayBuffer): ArrayBuffer {
  const { byteLength } = memory;
  const ballast = byteLength > MOVED_UNNOTICED_BYTES ? Buffer.allocUnsafeSlow(byteLength).buffer : undefined;
  const moved = structuredClone(memory, { transfer: [memory] });
  if (ballast !== undefined) free(ballast);
  return moved;
}

/** Returns unused memory to the system now, instead of at the next garbage collection. */
export function free(memory: ArrayBuffer): void {
  nowhere.postMessage(undefined, [memory]);
}

/** Keeps unused memory. */
export function keep(memory: ArrayBuffer): void {
  spares.push(memory);
  spareBytes += memory.byteLength;
  while (spares.length > SPARES_MAX || spareBytes > SPARE_MAX_BYTES) {
    const oldest = spares.shift();
    if (oldest === undefined) return;
    spareBytes -= oldest.byteLength;
    free(oldest);
  }
}

/** The latest piece of this kind that is large enough and not much too large. */
function takeSpare(bytes: number, mapped: boolean): ArrayBuffer | undefined {
  const index = spares.findLastIndex(
    (spare) => isMapped(spare) === mapped && spare.byteLength >= bytes && spare.byteLength <= 2 * bytes,
  );
  const [spare] = index < 0 ? [] : spares.splice(index, 1);
  spareBytes -= spare?.byteLength ?? 0;
  return spare;
}
