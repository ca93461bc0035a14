/** A message as an LMDB record. Version 2 ends with a checksum; version 1, without one, can also be read. Big-endian throughout. */
import { seal, SEAL_BYTES, sealBehindKey, unsealed } from '@proj/store/lmdb-folder';
import { bytesOfBody, packBody, packedBytes, packedSize, unpackBody } from '../body.js';
import type { Body, DeathReason, NewMessage } from '../store.js';
import { SEQ_KEY_BYTES, writeSeqKey } from './keys.js';

/** A record without its body. */
export interface Head {
  readonly storedMicros: number;
  /** 0: not delayed. */
  readonly readyMicros: number;
  /** 0: never. */
  readonly expiresMicros: number;
  readonly death: Death | undefined;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Offset of the body in the record; absent if it has its own entry. */
  readonly bodyAt: number | undefined;
}

/** Why and when a message became a dead letter, and after how many deliveries. */
export interface Death {
  readonly reason: DeathReason;
  readonly diedMicros: number;
  readonly deliveries: number;
}

/** Larger bodies have their own entry, which removing or moving the message does not read. */
export const INLINE_MAX = 1024;

const VERSION = 2;
/** Without a checksum. */
const PLAIN_VERSION = 1;
/** First byte of a body with a checksum; one without begins with its number of frames, whose first byte is 0. */
const SEALED_BODY = 0xff;
const REASONS: readonly DeathReason[] = ['max-deliveries', 'expired'];
const DELAYED = 0x10;
const EXPIRES = 0x20;
const DEAD = 0x40;
const APART = 0x80;
const VERSION_MASK = 0x0f;

/** The result of {@link RecordWriter.write}. */
export interface WrittenMessage {
  /** Its `seqKey`. */
  readonly key: Buffer;
  readonly record: Buffer;
  /** The packed body, if it gets its own entry. */
  readonly apart: Buffer | undefined;
  /** Bytes of the body. */
  readonly bytes: number;
}

/** Writes the records of one batch into one piece of memory, each behind its key, so that the database need not copy them. */
export class RecordWriter {
  readonly #memory: Buffer;
  #at = 0;

  constructor(puts: readonly NewMessage[]) {
    const room = (body: Body) => SEQ_KEY_BYTES + largestHead() + packedSize(body) + 1 + 2 * SEAL_BYTES;
    this.#memory = Buffer.allocUnsafeSlow(puts.reduce((sum, { body }) => sum + room(body), 0));
  }

  /** Writes a new message with this sequence. */
  write({ storedMicros, readyMicros, expiresMicros, body }: NewMessage, seq: number): WrittenMessage {
    const bytes = bytesOfBody(body);
    const isApart = bytes > INLINE_MAX;
    const keyFrom = this.#at;
    const from = writeSeqKey(this.#memory, seq, keyFrom);
    const key = this.#memory.subarray(keyFrom, from);
    const head = { storedMicros, readyMicros, expiresMicros, death: undefined, bytes, bodyAt: undefined };
    const memory = this.#memory;
    const behindHead = writeHead(memory, from, head, isApart);
    if (!isApart) {
      this.#at = sealBehindKey(memory, keyFrom, packBody(memory, behindHead, body));
      return { key, bytes, record: memory.subarray(from, this.#at), apart: undefined };
    }
    const bodyFrom = sealBehindKey(memory, keyFrom, behindHead);
    this.#at = seal(memory, bodyFrom, packBody(memory, memory.writeUInt8(SEALED_BODY, bodyFrom), body), key);
    return { key, bytes, record: memory.subarray(from, bodyFrom), apart: memory.subarray(bodyFrom, this.#at) };
  }
}

/** The same record with another head, for this key. */
export function encodeRecord(head: Head, content: Buffer, key: Uint8Array): Buffer {
  const inline = head.bodyAt === undefined ? undefined : content.subarray(head.bodyAt);
  const memory = Buffer.allocUnsafeSlow(largestHead() + (inline?.length ?? 0) + SEAL_BYTES);
  const end = writeHead(memory, 0, head, inline === undefined);
  inline?.copy(memory, end);
  return memory.subarray(0, seal(memory, 0, end + (inline?.length ?? 0), key));
}

/** A record without its checksum; `undefined` if that does not match, or for other bytes. */
export function contentOf(key: Uint8Array, record: Buffer): Buffer | undefined {
  const version = (record[0] ?? 0) & VERSION_MASK;
  if (version === PLAIN_VERSION) return record;
  return version === VERSION ? unsealed(key, record) : undefined;
}

/** The frames of a body with its own entry; `undefined` as for {@link contentOf}. */
export function readBody(key: Uint8Array, value: Buffer): Body | undefined {
  if (value[0] !== SEALED_BODY) return unpackBody(value, 0);
  const content = unsealed(key, value);
  return content && unpackBody(content, 1);
}

/** The head of a record without its checksum; `undefined` for other bytes. */
export function decodeHead(record: Buffer): Head | undefined {
  const flags = record[0] ?? 0;
  const size = headSize(flags);
  const version = flags & VERSION_MASK;
  if ((version !== VERSION && version !== PLAIN_VERSION) || record.length < size) return undefined;
  let at = 1;
  const number = (): number => record.readDoubleBE((at += 8) - 8);
  const storedMicros = number();
  const readyMicros = flags & DELAYED ? number() : 0;
  const expiresMicros = flags & EXPIRES ? number() : 0;
  if (!Number.isSafeInteger(storedMicros) || !Number.isSafeInteger(readyMicros + expiresMicros)) return undefined;
  const death = flags & DEAD ? readDeath(record, at) : undefined;
  if (flags & DEAD && death === undefined) return undefined;
  const isApart = (flags & APART) !== 0;
  const bytes = isApart ? record.readUInt32BE(size - 4) : packedBytes(record, size);
  if (bytes === undefined || (isApart && record.length > size)) return undefined;
  return { storedMicros, readyMicros, expiresMicros, death, bytes, bodyAt: isApart ? undefined : size };
}

function readDeath(record: Buffer, at: number): Death | undefined {
  const reason = REASONS[record[at] ?? 0xff];
  const diedMicros = record.readDoubleBE(at + 1);
  if (reason === undefined || !Number.isSafeInteger(diedMicros)) return undefined;
  return { reason, diedMicros, deliveries: record.readUInt32BE(at + 9) };
}

function headSize(flags: number): number {
  return 9 + (flags & DELAYED ? 8 : 0) + (flags & EXPIRES ? 8 : 0) + (flags & DEAD ? 13 : 0) + (flags & APART ? 4 : 0);
}

function largestHead(): number {
  return headSize(DELAYED | EXPIRES | DEAD | APART);
}

/** Writes a head and returns its end offset. */
function writeHead(memory: Buffer, from: number, head: Head, isApart: boolean): number {
  const { storedMicros, readyMicros, expiresMicros, death, bytes } = head;
  const isDelayed = readyMicros > 0;
  const expires = expiresMicros > 0;
  const flags =
    (isDelayed ? DELAYED : 0) | (expires ? EXPIRES : 0) | (death === undefined ? 0 : DEAD) | (isApart ? APART : 0);
  let at = memory.writeUInt8(VERSION | flags, from);
  at = memory.writeDoubleBE(storedMicros, at);
  if (isDelayed) at = memory.writeDoubleBE(readyMicros, at);
  if (expires) at = memory.writeDoubleBE(expiresMicros, at);
  if (death !== undefined) {
    at = memory.writeUInt8(REASONS.indexOf(death.reason), at);
    at = memory.writeDoubleBE(death.diedMicros, at);
    at = memory.writeUInt32BE(death.deliveries, at);
  }
  return isApart ? memory.writeUInt32BE(bytes, at) : at;
}
