/**
 * Replaces garbage collection for long pieces of memory: they are kept and used again, since V8 marks the whole heap for every few of them.
 * Saves: `zmtp-fast`, row "spares" (docs/adr/0016-long-bodies-are-given-back.md). Without it, the garbage collector has them all.
 */
import { MessageChannel } from 'node:worker_threads';

/** Shorter pieces are left to the garbage collector. */
export const LONG_BYTES = 2 ** 14;
/** What is kept at most; the oldest makes room, and is freed. */
const SPARES_MAX = 32;
const SPARE_MAX_BYTES = 2 ** 26;

/** Closed: whatever is transferred to it is freed. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

const spares: ArrayBuffer[] = [];
let spareBytes = 0;
/** Chunks as they were handed out: whoever has this very view has all of the memory. */
const chunks = new WeakSet<Uint8Array>();

/** A long chunk that {@link reclaim} takes back. */
export function takeChunk(bytes: number): Uint8Array {
  const chunk = takeLong(bytes);
  chunks.add(chunk);
  return chunk;
}

/** So many bytes of spare memory, else `enough` new ones; not for {@link reclaim}. */
export function takeLong(bytes: number, enough = bytes): Uint8Array {
  const spare = takeSpare(bytes, false);
  return spare === undefined ? Buffer.allocUnsafeSlow(enough) : new Uint8Array(spare, 0, bytes);
}

/** A buffer that could be resized, as V8 has them in Node 20 already: its memory is a mapping of its own. */
const MappedBuffer = ArrayBuffer as new (bytes: number, options: { readonly maxByteLength: number }) => ArrayBuffer;

/** As {@link takeLong}, of memory that is gone from the process as soon as it is freed. */
export function takeMapped(bytes: number, enough: number): Uint8Array {
  const spare = takeSpare(bytes, true);
  if (spare !== undefined) return new Uint8Array(spare, 0, bytes);
  return new Uint8Array(new MappedBuffer(enough, { maxByteLength: enough }), 0, enough);
}

/** Nobody uses this chunk any more, nor any part of it. Does nothing unless it is, as it is, from {@link takeChunk}. */
export function reclaim(chunk: Uint8Array): void {
  if (chunks.delete(chunk)) keep(chunk.buffer as ArrayBuffer);
}

/** The spare memory of all transports of this process. It is freed when memory is short and when the process rests. */
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

/** Returns memory that nobody uses to the system now, not with the next garbage collection. */
export function free(memory: ArrayBuffer): void {
  nowhere.postMessage(undefined, [memory]);
}

/** Keeps memory that nobody uses. */
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

/** The latest of this kind that is large enough and not much too large. */
function takeSpare(bytes: number, isMapped: boolean): ArrayBuffer | undefined {
  const index = spares.findLastIndex(
    (spare) => isOfKind(spare, isMapped) && spare.byteLength >= bytes && spare.byteLength <= 2 * bytes,
  );
  const [spare] = index < 0 ? [] : spares.splice(index, 1);
  spareBytes -= spare?.byteLength ?? 0;
  return spare;
}

function isOfKind(memory: ArrayBuffer & { readonly resizable?: boolean }, isMapped: boolean): boolean {
  return (memory.resizable === true) === isMapped;
}
