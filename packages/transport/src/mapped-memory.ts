/** Memory that leaves the process as soon as it is freed. Malloc of glibc keeps what lies below anything in use: after a flood, most of it. */

/** A buffer that could be resized, which V8 has since Node 20: its memory is a mapping of its own. */
const MappedBuffer = ArrayBuffer as new (bytes: number, options: { readonly maxByteLength: number }) => ArrayBuffer;

/** Mappings at once. Linux allows a process 65,530 (`vm.max_map_count`), and V8 ends it when its heap gets none. */
const MAPPED_MAX = 2 ** 14;
let mapped = 0;
const collected = new FinalizationRegistry(() => mapped--);

/** Zeroed memory in a mapping of its own; `undefined` while there are too many of them. */
export function mapMemory(bytes: number): Uint8Array | undefined {
  if (mapped >= MAPPED_MAX) return undefined;
  const buffer = new MappedBuffer(bytes, { maxByteLength: bytes });
  collected.register(buffer, undefined);
  mapped++;
  return new Uint8Array(buffer, 0, bytes);
}

/** Whether this memory is of {@link mapMemory}. */
export function isMapped(memory: ArrayBufferLike & { readonly resizable?: boolean }): boolean {
  return memory.resizable === true;
}
