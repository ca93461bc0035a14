/** Traffic of 26/CURVEZMQ: each frame becomes a MESSAGE command, sealed with the connection's key and a growing nonce. */
import type { Allocate } from '../framing/bytes.js';
import { bytesOf } from '../framing/bytes.js';
import { LONG_HEADER, SHORT_HEADER, SHORT_MAX, writeHeader } from '../framing/flags.js';
import type { Cipher, OpeningFrame, SealingFrame } from './mechanism.js';
import { BLOCK_BYTES, NONCE_BYTES, SCRATCH_BYTES, TAG_BYTES } from './primitives.js';
import type { Primitives, SlicedBox } from './primitives.js';

/** The name with its length, 8 bytes. */
const MESSAGE = bytesOf('\x07MESSAGE');
/** The short nonce, the part that is sent. */
const SHORT_NONCE_BYTES = 8;
const PREFIX_BYTES = NONCE_BYTES - SHORT_NONCE_BYTES;
const BOX_AT = MESSAGE.length + SHORT_NONCE_BYTES;
const FLAGS_BYTES = 1;
const OVERHEAD = BOX_AT + TAG_BYTES + FLAGS_BYTES;
/** Where a box begins in a frame's memory: leaves room for the longest header, and is a multiple of four after the scratch space. */
const TAG_AT = 28;
const BODY_AT = TAG_AT + TAG_BYTES + FLAGS_BYTES;
/** The bytes in front of the body in a box's space. In the frame, the name, nonce and authenticator use its free bytes. */
const FRONT_BYTES = SCRATCH_BYTES + TAG_BYTES + FLAGS_BYTES;
const TWO_TO_32 = 2 ** 32;

/** Nonces for sending: a 16-byte prefix and a counter from 1. */
export class Nonces {
  readonly #bytes = new Uint8Array(NONCE_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  #count = 0;

  /** The next nonce, never the same twice. Valid until the next call. */
  next(prefix: Uint8Array): Uint8Array {
    this.#bytes.set(prefix);
    this.#count++;
    this.#view.setUint32(PREFIX_BYTES, Math.floor(this.#count / TWO_TO_32));
    this.#view.setUint32(PREFIX_BYTES + 4, this.#count % TWO_TO_32);
    return this.#bytes;
  }
}

/** The peer's nonces: each must be larger than all before, or it is a replay. */
export class PeerNonces {
  readonly #bytes = new Uint8Array(NONCE_BYTES);
  #high = 0;
  #low = 0;

  /** The nonce of this prefix and these eight bytes, valid until the next call; `undefined` if it is not new. */
  take(prefix: Uint8Array, short: Uint8Array): Uint8Array | undefined {
    const view = new DataView(short.buffer, short.byteOffset, SHORT_NONCE_BYTES);
    const high = view.getUint32(0);
    const low = view.getUint32(4);
    if (high < this.#high || (high === this.#high && low <= this.#low)) return undefined;
    this.#high = high;
    this.#low = low;
    this.#bytes.set(prefix);
    this.#bytes.set(short.subarray(0, SHORT_NONCE_BYTES), PREFIX_BYTES);
    return this.#bytes;
  }
}

/** What both directions of a connection share. */
export interface CurveTraffic {
  readonly primitives: Primitives;
  readonly allocate: Allocate;
  /** The key shared by both transient pairs. */
  readonly key: Uint8Array;
  readonly nonces: Nonces;
  readonly peerNonces: PeerNonces;
  /** Our side: client or server. */
  readonly server: boolean;
}

const FROM_CLIENT = bytesOf('CurveZMQMESSAGEC');
const FROM_SERVER = bytesOf('CurveZMQMESSAGES');

/** The {@link Cipher} of a connection after its handshake. */
export class CurveCipher implements Cipher {
  readonly overhead = OVERHEAD;
  readonly #traffic: CurveTraffic;
  readonly #ours: Uint8Array;
  readonly #theirs: Uint8Array;

  constructor(traffic: CurveTraffic) {
    this.#traffic = traffic;
    this.#ours = traffic.server ? FROM_SERVER : FROM_CLIENT;
    this.#theirs = traffic.server ? FROM_CLIENT : FROM_SERVER;
  }

  seal(flags: number, body: Uint8Array): Uint8Array {
    const { primitives, key } = this.#traffic;
    const { frame, space, nonce } = this.#blank(flags, body.length);
    frame.set(body, BODY_AT);
    primitives.seal(key, nonce, space);
    return this.#headed(frame, nonce, body.length);
  }

  sealing(flags: number, body: Uint8Array): SealingFrame {
    const { primitives, key } = this.#traffic;
    const { frame, space, nonce } = this.#blank(flags, body.length);
    const box = primitives.slices(key, nonce, 'seal');
    return new CurveSealing(box, space, body, this.#headed(frame, nonce, body.length));
  }

  open(body: Uint8Array): Uint8Array | undefined {
    const { primitives, key } = this.#traffic;
    const nonce = this.#nonceOf(body);
    return nonce === undefined ? undefined : primitives.open(key, nonce, body.subarray(BOX_AT));
  }

  opening(body: Uint8Array): OpeningFrame | undefined {
    const { primitives, key } = this.#traffic;
    const nonce = this.#nonceOf(body);
    if (nonce === undefined) return undefined;
    const tag = Uint8Array.from(body.subarray(BOX_AT, BOX_AT + TAG_BYTES));
    return new CurveOpening(primitives, primitives.slices(key, nonce, 'open'), tag);
  }

  /** Memory for a frame, with the flags and everything to be encrypted except the body. */
  #blank(flags: number, bytes: number): { frame: Uint8Array; space: Uint8Array; nonce: Uint8Array } {
    const { allocate, nonces } = this.#traffic;
    const frame = allocate(BODY_AT + bytes);
    frame[BODY_AT - FLAGS_BYTES] = flags;
    return { frame, space: frame.subarray(TAG_AT - SCRATCH_BYTES), nonce: nonces.next(this.#ours) };
  }

  /** The frame for a body of this size, with everything in front of the box filled in. */
  #headed(frame: Uint8Array, nonce: Uint8Array, bytes: number): Uint8Array {
    const messageAt = TAG_AT - BOX_AT;
    frame.set(MESSAGE, messageAt);
    frame.set(nonce.subarray(PREFIX_BYTES), messageAt + MESSAGE.length);
    const length = OVERHEAD + bytes;
    const start = messageAt - (length > SHORT_MAX ? LONG_HEADER : SHORT_HEADER);
    writeHeader(frame, start, 0, length);
    return frame.subarray(start);
  }

  /** Reads the nonce from the start of a frame; `undefined` if the frame is not a MESSAGE or the nonce is not new. */
  #nonceOf(body: Uint8Array): Uint8Array | undefined {
    if (body.length < OVERHEAD) return undefined;
    for (let index = 0; index < MESSAGE.length; index++) if (body[index] !== MESSAGE[index]) return undefined;
    return this.#traffic.peerNonces.take(this.#theirs, body.subarray(MESSAGE.length, BOX_AT));
  }
}

class CurveSealing implements SealingFrame {
  readonly frame: Uint8Array;
  readonly #box: SlicedBox;
  readonly #space: Uint8Array;
  readonly #body: Uint8Array;
  #at = 0;

  constructor(box: SlicedBox, space: Uint8Array, body: Uint8Array, frame: Uint8Array) {
    this.#box = box;
    this.#space = space;
    this.#body = body;
    this.frame = frame;
  }

  step(bytes: number): number {
    const space = this.#space;
    const from = this.#at;
    const left = space.length - from;
    if (left === 0) return 0;
    const to = from + Math.min(left, Math.max(blocks(Math.min(bytes, left + BLOCK_BYTES)), BLOCK_BYTES));
    // The bytes in front of the body are already there.
    const copied = Math.max(from, FRONT_BYTES);
    if (to > copied) space.set(this.#body.subarray(copied - FRONT_BYTES, to - FRONT_BYTES), copied);
    if (from === 0) this.#first(space.subarray(0, to));
    else this.#box.next(space.subarray(from, to));
    this.#at = to;
    if (to === space.length) space.set(this.#box.tag(), SCRATCH_BYTES);
    return to - from;
  }

  /** The bytes in front of the box share the memory of its free bytes. */
  #first(slice: Uint8Array): void {
    const header = Uint8Array.from(slice.subarray(0, SCRATCH_BYTES));
    this.#box.next(slice);
    slice.set(header);
  }
}

class CurveOpening implements OpeningFrame {
  readonly #primitives: Primitives;
  readonly #box: SlicedBox;
  readonly #tag: Uint8Array;
  #at = 0;

  constructor(primitives: Primitives, box: SlicedBox, tag: Uint8Array) {
    this.#primitives = primitives;
    this.#box = box;
    this.#tag = tag;
  }

  advance(body: Uint8Array, filled: number): void {
    const to = blocks(filled);
    if (to <= this.#at) return;
    this.#box.next(body.subarray(this.#at, to));
    this.#at = to;
  }

  finish(body: Uint8Array): Uint8Array | undefined {
    if (this.#at < body.length) this.#box.next(body.subarray(this.#at));
    return this.#primitives.equal(this.#box.tag(), this.#tag) ? body.subarray(BOX_AT + TAG_BYTES) : undefined;
  }
}

/** Rounds up to whole blocks. */
function blocks(bytes: number): number {
  return bytes - (bytes % BLOCK_BYTES);
}
