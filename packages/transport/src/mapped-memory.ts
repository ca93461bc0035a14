/** Memory that leaves the process as soon as it is freed. Malloc of glibc keeps what lies below anything in use: after a flood, most of it. */

/** A buffer that can be resized, which V8 has since Node 20: its memory is a mapping of its own. */
interface Resizable extends ArrayBuffer {
  resize(bytes: number): void;
}
const MappedBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => Resizable;

/** Mappings at once. Linux allows a process 65,530 (`vm.max_map_count`), and V8 ends it when its heap gets none. */
const MAPPED_MAX = 2 ** 14;
let mapped = 0;
const collected = new FinalizationRegistry(() => mapped--);

/**
 * Zeroed memory in a mapping of its own, with addresses reserved for `most` bytes; `undefined` while there are too many mappings, or if the
 * system refuses this one.
 */
export function mapMemory(bytes: number, most = bytes): Uint8Array | undefined {
  if (mapped >= MAPPED_MAX) return undefined;
  try {
    const buffer = new MappedBuffer(bytes, { maxByteLength: most });
    collected.register(buffer, undefined);
    mapped++;
    return new Uint8Array(buffer, 0, bytes);
  } catch {
    return undefined;
  }
}

/** The same memory, longer; `undefined` if it is not of {@link mapMemory}, if its addresses do not suffice, or if the system refuses. */
export function growMapped({ buffer }: Uint8Array, bytes: number): Uint8Array | undefined {
  if (!isMapped(buffer)) return undefined;
  try {
    (buffer as Resizable).resize(bytes);
    return new Uint8Array(buffer, 0, bytes);
  } catch {
    return undefined;
  }
}

/** Whether this memory is of {@link mapMemory}. */
export function isMapped(memory: ArrayBufferLike & { readonly resizable?: boolean }): boolean {
  return memory.resizable === true;
}
