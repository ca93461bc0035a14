/** Assembles the frames of a connection into messages and commands: 37/ZMTP, "Framing", with the limits it leaves to us. */
import type { Allocate, Reuse } from './bytes.js';
import type { Failure, FailureCode } from '../failure.js';
import { COMMAND, LONG, LONG_HEADER, MORE, readLongSize, RESERVED, SHORT_HEADER } from './flags.js';
import { SEALED_COMMAND, SEALED_MORE } from '../mechanisms/mechanism.js';
import type { Cipher, OpeningFrame } from '../mechanisms/mechanism.js';

/** What a reader accepts. */
export interface ReaderLimits {
  /** Frames per message. The rest of a larger one is skipped, and it is rejected. */
  readonly maxMessageFrames: number;
  /** Bytes per message, likewise. */
  readonly maxMessageBytes: number;
  /** Bytes per frame; a larger one ends the connection. At least `maxMessageBytes`. */
  readonly maxFrameBytes: number;
}

/** What {@link FrameReader.next} found. */
export type ReadItem = 'message' | 'command' | 'too-many-frames' | 'too-large';

/** No command of ours is longer. READY may carry a few properties that we do not know. */
const COMMAND_MAX_BYTES = 8192;
/** A frame keeps at most this much memory alive, or only its own chunk if it is at least as large. */
const PINNED_BYTES = 8192;
/** A frame of this size or more has a block of its own, unless it lies in the present one: the short ones around it should not pay for it. */
const LONE_BYTES = PINNED_BYTES / 4;
/** The smallest block for short frames. */
const BLOCK_MIN_BYTES = 512;
/**
 * Memory for an incomplete frame starts at the first size and grows to the second, then by a factor. So an announced size costs nothing until
 * bytes arrive, and a body of 128 MiB, the largest default, never has more than the second size copied at once.
 */
const FIRST_BYTES = 2 ** 20;
const SECOND_BYTES = 5 * 2 ** 20;
const GROWTH = 32;
/** Where it can grow in place, it grows by this much. */
const STEP_BYTES = 2 ** 22;
/** A smaller rest of a body is not worth a read of its own. */
const ROOM_BYTES = 2 ** 14;
/** Shorter sealed frames are opened when complete, longer ones while they arrive. */
const SEALED_LONG_BYTES = 2 ** 16;
/** Bytes of a long frame per read, so that others get their turn soon. For a sealed frame, they are opened at once. */
export const READ_MAX_BYTES = 2 ** 18;

const FORGED = 'a frame is not sealed, or was sealed with another key';

/**
 * Takes chunks of any size and returns one item at a time. Frames are views of the chunk they arrived in. Small frames of a large chunk are
 * moved into blocks, so that keeping one does not keep the whole chunk. A frame that arrived in pieces is assembled once.
 */
export class FrameReader {
  /** The body of the command that {@link next} found; valid until the next call. */
  command: Uint8Array;
  /** Why nothing more will be read. */
  fault: Failure | undefined;
  /** While true, a message is a fault, reported before its body has arrived. */
  commandsOnly = true;
  /** Decrypts frames once traffic is encrypted. Limits apply to the decrypted sizes. */
  cipher: Cipher | undefined;
  readonly #limits: ReaderLimits;
  readonly #allocate: Allocate;
  readonly #reuse: Reuse | undefined;
  readonly #empty: Uint8Array;
  readonly #nothing: ArrayBufferLike;
  #chunk: Uint8Array;
  #at = 0;
  /** Where the chunk's bytes up to {@link #memoryEnd} are stored. The offset is that of its first byte, or where it would be. */
  #memory: ArrayBufferLike;
  #offset = 0;
  #memoryEnd = 0;
  /** The block's first byte in the chunk, and where its last frame ends. */
  #blockFrom = 0;
  #blockUsed = 0;
  /** Size of the next block: twice what the last one was good for. */
  #blockBytes = PINNED_BYTES;
  /** Frames are views of the chunk. */
  #viewed = false;
  /** A header that arrived in pieces. */
  readonly #head = new Uint8Array(LONG_HEADER);
  #headBytes = 0;
  /** The frame whose body is being read. */
  #flags = 0;
  #length = 0;
  #inBody = false;
  #skips = false;
  #body: Uint8Array | undefined;
  #bodyBytes = 0;
  /** Memory taken for its beginning: little, or spare memory for all of it. */
  #firstBytes = 0;
  /** State of a long sealed frame. */
  #opening: OpeningFrame | undefined;
  /** The message whose frames are being read. */
  #parts: Uint8Array[] = [];
  #messageBytes = 0;
  #rejected = false;

  constructor(limits: ReaderLimits, allocate: Allocate, reuse?: Reuse) {
    this.#limits = limits;
    this.#allocate = allocate;
    this.#reuse = reuse;
    this.#empty = this.command = this.#chunk = allocate(0);
    this.#memory = this.#nothing = this.#empty.buffer;
  }

  /** Adds received bytes, which must not change afterwards. Before adding more, call {@link next} until it returns nothing. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#viewed = false;
    this.#at = this.#memoryEnd = 0;
    this.#memory = this.#nothing;
  }

  /** Where to put the next bytes, if they belong to a long body: at most {@link READ_MAX_BYTES} of it. Push them as usual. */
  get room(): Uint8Array | undefined {
    const body = this.#body;
    if (body === undefined || body.length - this.#bodyBytes < ROOM_BYTES) return undefined;
    return body.subarray(this.#bodyBytes, this.#bodyBytes + READ_MAX_BYTES);
  }

  /** Memory of the unfinished message. New memory for what has not arrived takes no room yet, unless it is little. */
  get unfinishedBytes(): number {
    const body = this.#body;
    // An announced frame counts before it has arrived, unless it is sealed.
    const announced =
      body !== undefined && this.cipher === undefined && (this.#flags & COMMAND) === 0 ? this.#length : 0;
    const bytes = body === undefined ? 0 : Math.max(this.#bodyBytes, this.#firstBytes);
    return (this.#rejected ? 0 : this.#messageBytes - announced) + bytes;
  }

  /** Memory of the chunk, if some of it is unread. */
  get chunkBytes(): number {
    return this.#chunk.length;
  }

  /** Unread bytes of the chunk. */
  get waitingBytes(): number {
    return this.#chunk.length - this.#at;
  }

  /** The next item; `undefined` if more bytes are needed or a {@link fault} was found. */
  next(): ReadItem | undefined {
    const item = this.#scan();
    // An idle connection must not keep its last chunk alive.
    if (item === undefined) {
      if (!this.#viewed) this.#reuse?.reclaim(this.#chunk);
      this.push(this.#empty);
      this.command = this.#empty;
    }
    return item;
  }

  /** The frames of the message that {@link next} found. The caller owns them. */
  takeFrames(): Uint8Array[] {
    const frames = this.#parts;
    this.#parts = [];
    return frames;
  }

  /** Nothing more arrives and nobody writes into {@link room}: frees the unfinished message. */
  discard(): void {
    this.#reuse?.discard(this.#body === undefined ? this.#parts : [...this.#parts, this.#body]);
    this.#body = this.#opening = undefined;
    this.#parts = [];
    this.#inBody = false;
    this.#endRejected();
  }

  #scan(): ReadItem | undefined {
    while (this.fault === undefined) {
      if (!this.#inBody) {
        if (!this.#readHeader()) return undefined;
        const verdict = this.#judge();
        if (verdict === 'fault') return undefined;
        if (verdict !== undefined) return verdict;
      }
      if (this.#skips) {
        if (!this.#skip()) return undefined;
        continue;
      }
      const body = this.#readBody();
      if (body === undefined) return undefined;
      this.#inBody = false;
      const item = this.cipher === undefined ? this.#finish(this.#flags, body) : this.#unseal(this.cipher, body);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  #finish(flags: number, body: Uint8Array): ReadItem | undefined {
    if ((flags & COMMAND) !== 0) {
      this.command = body;
      return 'command';
    }
    this.#parts.push(body);
    if ((flags & MORE) !== 0) return undefined;
    this.#messageBytes = 0;
    return 'message';
  }

  #unseal(cipher: Cipher, body: Uint8Array): ReadItem | undefined {
    const opened = this.#opening === undefined ? cipher.open(body) : this.#opening.finish(body);
    this.#opening = undefined;
    if (opened === undefined) {
      this.#fail('security', FORGED);
      return undefined;
    }
    const flags = opened[0] as number;
    const plain = opened.subarray(1);
    if (flags === SEALED_COMMAND && plain.length <= COMMAND_MAX_BYTES) return this.#finish(COMMAND, plain);
    if ((flags & ~SEALED_MORE) !== 0) {
      this.#fail('malformed', `a sealed frame of ${plain.length} bytes has the flags 0x${flags.toString(16)}`);
      return undefined;
    }
    const verdict = this.#admit(plain.length);
    if (!this.#skips) return this.#finish(flags === SEALED_MORE ? MORE : 0, plain);
    this.#skips = false;
    if (flags === 0) this.#endRejected();
    return verdict;
  }

  #readHeader(): boolean {
    const chunk = this.#chunk;
    const at = this.#at;
    const left = chunk.length - at;
    if (this.#headBytes > 0 || left < LONG_HEADER) return this.#readHeaderPieces();
    const flags = (this.#flags = chunk[at] as number);
    if ((flags & LONG) === 0) {
      this.#length = chunk[at + 1] as number;
      this.#at = at + SHORT_HEADER;
    } else {
      this.#length = readLongSize(chunk, at + 1);
      this.#at = at + LONG_HEADER;
    }
    return true;
  }

  /** Byte by byte into its own buffer, across chunks. */
  #readHeaderPieces(): boolean {
    const head = this.#head;
    while (this.#at < this.#chunk.length) {
      head[this.#headBytes++] = this.#chunk[this.#at++] as number;
      const flags = head[0] as number;
      const long = (flags & LONG) !== 0;
      if (this.#headBytes < (long ? LONG_HEADER : SHORT_HEADER)) continue;
      this.#flags = flags;
      this.#length = long ? readLongSize(head, 1) : (head[1] as number);
      this.#headBytes = 0;
      return true;
    }
    return false;
  }

  /** Decides what to do with a frame before its body has arrived. */
  #judge(): ReadItem | 'fault' | undefined {
    const flags = this.#flags;
    const length = this.#length;
    if ((flags & RESERVED) !== 0) return this.#fail('malformed', `a frame has the flags 0x${flags.toString(16)}`);
    this.#inBody = true;
    if (this.cipher !== undefined) {
      if ((flags & MORE) !== 0) return this.#fail('malformed', 'a sealed frame has the flag MORE');
      const most = Math.max(this.#limits.maxFrameBytes, COMMAND_MAX_BYTES) + this.cipher.overhead;
      if (length > most) return this.#fail('too-large', `a sealed frame has ${length} bytes`);
      this.#skips = false;
      return undefined;
    }
    if ((flags & COMMAND) !== 0) {
      if ((flags & MORE) !== 0) return this.#fail('malformed', 'a command has the flag MORE');
      if (length > COMMAND_MAX_BYTES) return this.#fail('too-large', `a command has ${length} bytes`);
      // Also between the frames of a message: libzmq sends its PING there.
      this.#skips = false;
      return undefined;
    }
    if (this.commandsOnly) return this.#fail('malformed', 'a message came before READY');
    if (length > this.#limits.maxFrameBytes) return this.#fail('too-large', `a frame has ${length} bytes`);
    return this.#admit(length);
  }

  /** Counts a frame of a message: whether to skip it, and what to report. */
  #admit(length: number): ReadItem | undefined {
    this.#messageBytes += length;
    this.#skips = this.#rejected;
    if (this.#rejected) return undefined;
    const tooMany = this.#parts.length >= this.#limits.maxMessageFrames;
    if (!tooMany && this.#messageBytes <= this.#limits.maxMessageBytes) return undefined;
    this.#skips = this.#rejected = true;
    this.#parts = [];
    return tooMany ? 'too-many-frames' : 'too-large';
  }

  #skip(): boolean {
    const step = Math.min(this.#length, this.#chunk.length - this.#at);
    this.#at += step;
    this.#length -= step;
    if (this.#length > 0) return false;
    this.#inBody = false;
    if ((this.#flags & MORE) === 0) this.#endRejected();
    return true;
  }

  #endRejected(): void {
    this.#rejected = false;
    this.#messageBytes = 0;
  }

  #readBody(): Uint8Array | undefined {
    const left = this.#chunk.length - this.#at;
    if (this.#body === undefined) {
      if (left >= this.#length && !this.#isLongSealed) return this.#view(this.#length);
      this.#body = this.#lend(Math.min(this.#length, FIRST_BYTES), this.#length);
      this.#firstBytes = this.#body.length;
      this.#bodyBytes = 0;
    }
    const body = this.#collect(Math.min(left, this.#length - this.#bodyBytes));
    return this.#isLongSealed && !this.#open(body) ? undefined : body;
  }

  get #isLongSealed(): boolean {
    return this.cipher !== undefined && this.#length > SEALED_LONG_BYTES;
  }

  /** Decrypts what has arrived of a long sealed frame; false if it is forged. */
  #open(whole: Uint8Array | undefined): boolean {
    const body = whole ?? this.#body;
    const { cipher } = this;
    if (body === undefined || cipher === undefined || this.#bodyBytes < cipher.overhead) return true;
    this.#opening ??= cipher.opening(body.subarray(0, this.#bodyBytes));
    if (this.#opening === undefined) {
      this.#fail('security', FORGED);
      return false;
    }
    if (whole === undefined) this.#opening.advance(body, this.#bodyBytes);
    return true;
  }

  #collect(bytes: number): Uint8Array | undefined {
    let body = this.#body as Uint8Array;
    const filled = this.#bodyBytes + bytes;
    if (filled > body.length) this.#body = body = this.#longer(body, filled);
    const chunk = this.#chunk;
    const isInPlace = chunk.buffer === body.buffer && chunk.byteOffset + this.#at === body.byteOffset + this.#bodyBytes;
    if (!isInPlace) body.set(chunk.subarray(this.#at, this.#at + bytes), this.#bodyBytes);
    this.#at += bytes;
    this.#bodyBytes = filled;
    if (filled < this.#length) return undefined;
    this.#body = undefined;
    return body;
  }

  /** In place if possible, little by little; otherwise a copy. */
  #longer(body: Uint8Array, filled: number): Uint8Array {
    const grown = this.#reuse?.grow?.(body, Math.min(this.#length, filled + STEP_BYTES));
    if (grown !== undefined) return grown;
    const bytes = body.length < SECOND_BYTES ? SECOND_BYTES : GROWTH * body.length;
    // Not spare memory, which would take its room at once.
    const larger = this.#lend(Math.min(this.#length, Math.max(filled, bytes)), Infinity);
    larger.set(body.subarray(0, this.#bodyBytes));
    return larger;
  }

  #lend(bytes: number, whole: number): Uint8Array {
    return this.#reuse?.lend(bytes, whole) ?? this.#allocate(bytes);
  }

  #view(length: number): Uint8Array {
    const start = this.#at;
    const end = (this.#at = start + length);
    if (length === 0) return this.#empty;
    if (length >= PINNED_BYTES) {
      this.#viewed = true;
      return this.#chunk.subarray(start, end);
    }
    if (end > this.#memoryEnd) {
      if (length >= LONE_BYTES && !this.#mayView) return this.#copy(start, end);
      this.#findMemory(start, length);
    }
    this.#blockUsed = end;
    return new Uint8Array(this.#memory, this.#offset + start, length);
  }

  /** Frames may be views of the chunk: it is small, or it holds sealed bytes, which nobody keeps. */
  get #mayView(): boolean {
    return this.cipher !== undefined || this.#chunk.length <= PINNED_BYTES;
  }

  /** The chunk itself, or a block for the part of it that begins there. */
  #findMemory(start: number, length: number): void {
    const chunk = this.#chunk;
    if (this.#mayView) {
      this.#viewed = true;
      this.#memory = chunk.buffer;
      this.#offset = chunk.byteOffset;
      this.#memoryEnd = chunk.length;
      return;
    }
    if (this.#memoryEnd > 0) {
      const used = this.#blockUsed - this.#blockFrom;
      this.#blockBytes = Math.min(Math.max(2 * used, BLOCK_MIN_BYTES), PINNED_BYTES);
    }
    const end = Math.min(start + Math.max(length, this.#blockBytes), chunk.length);
    const block = this.#copy(start, end);
    this.#memory = block.buffer;
    this.#offset = block.byteOffset - start;
    this.#memoryEnd = end;
    this.#blockFrom = start;
  }

  #copy(start: number, end: number): Uint8Array {
    const copy = this.#allocate(end - start);
    copy.set(this.#chunk.subarray(start, end));
    return copy;
  }

  #fail(code: FailureCode, text: string): 'fault' {
    this.fault = { code, text };
    return 'fault';
  }
}
