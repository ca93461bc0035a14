/** The record that sums up a store, written with every commit. */
import { sealed, unsealed } from '@proj/store/lmdb-folder';
import { ProjError } from '@proj/transport';

export interface Ledger {
  readonly epoch: bigint;
  readonly lastSeq: number;
  readonly messages: number;
  readonly bytes: number;
  readonly delayed: number;
  readonly dead: number;
  /** Entries in the table of delivery counts. */
  readonly counted: number;
}

export const LEDGER_KEY = 'ledger';

const MAGIC = 'PZQ\n';
const FORMAT = 2;
/** Without checksums. */
const PLAIN_FORMAT = 1;
const KEY = Buffer.from(LEDGER_KEY);
const NUMBERS = ['lastSeq', 'messages', 'bytes', 'delayed', 'dead', 'counted'] as const;
const HEADER_BYTES = 16;

/** The ledger of a new store. */
export function emptyLedger(epoch: bigint): Ledger {
  return { epoch, lastSeq: 0, messages: 0, bytes: 0, delayed: 0, dead: 0, counted: 0 };
}

export function encodeLedger(ledger: Ledger): Buffer {
  const record = Buffer.alloc(HEADER_BYTES + 8 * NUMBERS.length);
  record.write(MAGIC, 'latin1');
  record.writeUInt32BE(FORMAT, 4);
  record.writeBigUInt64BE(ledger.epoch, 8);
  for (const [index, name] of NUMBERS.entries()) record.writeDoubleBE(ledger[name], HEADER_BYTES + 8 * index);
  return sealed(KEY, record);
}

/** True for a format that this version can read. */
export function isOurFormat(record: Uint8Array): boolean {
  const memory = Buffer.from(record.buffer, record.byteOffset, record.length);
  if (memory.length < HEADER_BYTES || memory.toString('latin1', 0, 4) !== MAGIC) return false;
  return [FORMAT, PLAIN_FORMAT].includes(memory.readUInt32BE(4));
}

/** Throws `CORRUPT` for other bytes, or for a format that this version cannot read. */
export function decodeLedger(record: Uint8Array, where: string): Ledger {
  const memory = Buffer.from(record.buffer, record.byteOffset, record.length);
  if (memory.length < HEADER_BYTES || memory.toString('latin1', 0, 4) !== MAGIC)
    throw new ProjError('CORRUPT', `${where} is not a message store: give the queue its own folder`);
  const format = memory.readUInt32BE(4);
  if (!isOurFormat(memory)) {
    const text = `${where} has format ${format}, this version reads ${FORMAT}: use the version that wrote it`;
    throw new ProjError('CORRUPT', text);
  }
  if (format === FORMAT && unsealed(KEY, memory) === undefined)
    throw new ProjError('CORRUPT', `${where} has a ledger that does not match its checksum: restore it from a copy`);
  const values = NUMBERS.map((name, index) => [name, number(memory, HEADER_BYTES + 8 * index)] as const);
  if (values.some(([, value]) => !Number.isSafeInteger(value) || value < 0))
    throw new ProjError('CORRUPT', `${where} contradicts itself: restore it from a copy`);
  const numbers = Object.fromEntries(values) as Record<(typeof NUMBERS)[number], number>;
  return { epoch: memory.readBigUInt64BE(8), ...numbers };
}

function number(memory: Buffer, at: number): number {
  return at + 8 <= memory.length ? memory.readDoubleBE(at) : Number.NaN;
}
