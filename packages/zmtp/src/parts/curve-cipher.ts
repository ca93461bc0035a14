/** Traffic of 26/CURVEZMQ: each frame as a MESSAGE command, sealed with the key of the connection and a nonce that only grows. */
import type { Allocate } from './bytes.js';
import { bytesOf } from './bytes.js';
import { LONG_HEADER, SHORT_HEADER, SHORT_MAX, writeHeader } from './flags.js';
import type { Cipher } from './mechanism.js';
import { NONCE_BYTES, SCRATCH_BYTES, TAG_BYTES } from './primitives.js';
import type { Primitives } from './primitives.js';

/** The name with its length, 8 bytes. */
const MESSAGE = bytesOf('\x07MESSAGE');
/** Of the short nonce, which is what travels. */
const SHORT_NONCE_BYTES = 8;
const PREFIX_BYTES = NONCE_BYTES - SHORT_NONCE_BYTES;
const BOX_AT = MESSAGE.length + SHORT_NONCE_BYTES;
const FLAGS_BYTES = 1;
const OVERHEAD = BOX_AT + TAG_BYTES + FLAGS_BYTES;
/** Where a box begins in the memory of a frame: room for the longest header, and a multiple of four behind the scratch space. */
const TAG_AT = 28;
const TWO_TO_32 = 2 ** 32;

/** Nonces of one direction for sending: a prefix of 16 bytes and a count from 1. */
export class Nonces {
  readonly #bytes = new Uint8Array(NONCE_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  #count = 0;

  /** The next nonce under this prefix; valid until the next call. Never the same twice. */
  next(prefix: Uint8Array): Uint8Array {
    this.#bytes.set(prefix);
    this.#count++;
    this.#view.setUint32(PREFIX_BYTES, Math.floor(this.#count / TWO_TO_32));
    this.#view.setUint32(PREFIX_BYTES + 4, this.#count % TWO_TO_32);
    return this.#bytes;
  }
}

/** Nonces of the peer: each must be larger than all before, or somebody plays old frames again. */
export class PeerNonces {
  readonly #bytes = new Uint8Array(NONCE_BYTES);
  #high = 0;
  #low = 0;

  /** The nonce of this prefix and these eight bytes, valid until the next call; `undefined` when it is not new. */
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

/** What both directions of a connection need. */
export interface CurveTraffic {
  readonly primitives: Primitives;
  readonly allocate: Allocate;
  /** The key between both transient pairs. */
  readonly key: Uint8Array;
  readonly nonces: Nonces;
  readonly peerNonces: PeerNonces;
  /** The side we play. */
  readonly server: boolean;
}

const FROM_CLIENT = bytesOf('CurveZMQMESSAGEC');
const FROM_SERVER = bytesOf('CurveZMQMESSAGES');

/** {@link Cipher} of a connection whose handshake is complete. */
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
    const { primitives, allocate, key, nonces } = this.#traffic;
    const frame = allocate(TAG_AT + TAG_BYTES + FLAGS_BYTES + body.length);
    frame[TAG_AT + TAG_BYTES] = flags;
    frame.set(body, TAG_AT + TAG_BYTES + FLAGS_BYTES);
    const nonce = nonces.next(this.#ours);
    primitives.seal(key, nonce, frame.subarray(TAG_AT - SCRATCH_BYTES));
    const messageAt = TAG_AT - BOX_AT;
    frame.set(MESSAGE, messageAt);
    frame.set(nonce.subarray(PREFIX_BYTES), messageAt + MESSAGE.length);
    const length = OVERHEAD + body.length;
    const start = messageAt - (length > SHORT_MAX ? LONG_HEADER : SHORT_HEADER);
    writeHeader(frame, start, 0, length);
    return frame.subarray(start);
  }

  open(body: Uint8Array): Uint8Array | undefined {
    if (body.length < OVERHEAD) return undefined;
    for (let index = 0; index < MESSAGE.length; index++) if (body[index] !== MESSAGE[index]) return undefined;
    const { primitives, key, peerNonces } = this.#traffic;
    const nonce = peerNonces.take(this.#theirs, body.subarray(MESSAGE.length, BOX_AT));
    return nonce === undefined ? undefined : primitives.open(key, nonce, body.subarray(BOX_AT));
  }
}
