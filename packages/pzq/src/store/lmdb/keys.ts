/** Keys of the tables, which sort in reading order. Big-endian throughout. */

/** A time at which a delayed message becomes ready, or a message expires. */
export interface Moment {
  readonly micros: number;
  readonly seq: number;
  readonly what: 'ready' | 'expired';
}

/** Length of {@link seqKey}. */
export const SEQ_KEY_BYTES = 8;

const HALF = 2 ** 32;
const MOMENT_BYTES = 17;

/** Eight bytes of a safe integer. */
export function seqKey(seq: number): Buffer {
  const key = Buffer.allocUnsafe(SEQ_KEY_BYTES);
  writeSeqKey(key, seq, 0);
  return key;
}

/** Writes {@link seqKey}; returns where it ends. */
export function writeSeqKey(memory: Buffer, seq: number, at: number): number {
  memory.writeUInt32BE(Math.floor(seq / HALF), at);
  return memory.writeUInt32BE(seq % HALF, at + 4);
}

/** The integer of {@link seqKey}. */
export function readSeqKey(key: Uint8Array): number {
  return readInteger(Buffer.from(key.buffer, key.byteOffset, key.length), 0);
}

/** Time, then sequence, then what is due. */
export function momentKey({ micros, seq, what }: Moment): Buffer {
  const key = Buffer.allocUnsafe(MOMENT_BYTES);
  writeSeqKey(key, seq, writeSeqKey(key, micros, 0));
  key[16] = what === 'ready' ? 0 : 1;
  return key;
}

/** The inverse of {@link momentKey}. */
export function readMomentKey(key: Uint8Array): Moment {
  const memory = Buffer.from(key.buffer, key.byteOffset, key.length);
  return { micros: readInteger(memory, 0), seq: readInteger(memory, 8), what: memory[16] === 0 ? 'ready' : 'expired' };
}

/** When an id is forgotten, and which one. */
export function idTimeKey(untilMicros: number, id: Uint8Array): Buffer {
  return Buffer.concat([seqKey(untilMicros), id]);
}

function readInteger(memory: Buffer, at: number): number {
  return memory.readUInt32BE(at) * HALF + memory.readUInt32BE(at + 4);
}
