/**
 * Lanes, the bytes: many streams over one connection, between ends that both know them (docs/protocols/zmtp.md, "Lanes").
 *
 *     connection = preamble *frame
 *     preamble   = "LANES/1" LF
 *     frame      = kind lane size *OCTET    ; payload of `size` octets in DATA only
 *     kind       = %x01 / %x02 / %x03 / %x04 / %x05
 *     lane       = 4OCTET                    ; number, big-endian
 *     size       = 4OCTET                    ; DATA: octets that follow; WINDOW: octets granted; otherwise 0
 */

/** Sent first by the opener; the acceptor answers with the same. No ZMTP greeting begins like it. */
export const PREAMBLE = Uint8Array.from('LANES/1\n', (character) => character.charCodeAt(0));

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 9;

/** Kinds of frames. */
export const KIND = {
  /** The opener begins a lane; numbers only increase. */
  open: 1,
  data: 2,
  /** No more data in this direction. */
  end: 3,
  /** The lane has ended in both directions, or was refused. */
  reset: 4,
  /** Grants this many more bytes. */
  window: 5,
} as const;

/** Names of the kinds, by their numbers. */
export const KIND_NAMES = { 1: 'open', 2: 'data', 3: 'end', 4: 'reset', 5: 'window' } as const;

/** A frame without payload. */
export type ControlKind = typeof KIND.open | typeof KIND.end | typeof KIND.reset | typeof KIND.window;

/** Writes a header; returns where it ends. */
export function writeLaneHeader(target: Uint8Array, at: number, kind: number, lane: number, size: number): number {
  target[at] = kind;
  writeNumber(target, at + 1, lane);
  writeNumber(target, at + 5, size);
  return at + HEADER_BYTES;
}

function writeNumber(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}

function readNumber(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return a * 0x1000000 + ((b << 16) | (c << 8) | d);
}

/** Receives what the reader finds. */
export interface LaneFrameSink {
  onControl(kind: ControlKind, lane: number, size: number): void;
  /** A piece of a DATA frame, as received; shares memory with the chunk. */
  onData(lane: number, bytes: Uint8Array): void;
  /** The bytes are not valid frames; nothing more is read. */
  onFault(text: string): void;
}

/** Splits the bytes after the preamble into frames. Keeps at most a header. */
export class LaneFrameReader {
  readonly #sink: LaneFrameSink;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  /** State of the current DATA frame. */
  #lane = 0;
  #left = 0;
  #broken = false;
  #halted = false;

  constructor(sink: LaneFrameSink) {
    this.#sink = sink;
  }

  /** The lane and the remaining bytes of the current DATA frame; 0 bytes between frames. */
  get lane(): number {
    return this.#lane;
  }

  get left(): number {
    return this.#broken ? 0 : this.#left;
  }

  /** Reads the next bytes and returns how many it consumed: all, unless the sink calls {@link halt} or {@link stop}. */
  push(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.#broken && !this.#halted) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left);
        this.#left -= end - at;
        this.#sink.onData(this.#lane, chunk.subarray(at, end));
        at = end;
      } else if (this.#headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        this.#take(chunk, at);
        at += HEADER_BYTES;
      } else {
        this.#header[this.#headerBytes++] = chunk[at++] as number;
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#headerBytes = 0;
        this.#take(this.#header, 0);
      }
    }
    this.#halted = false;
    return at;
  }

  /** Reads no further frame from these bytes. */
  halt(): void {
    this.#halted = true;
  }

  /** Reads nothing more. */
  stop(): void {
    this.#broken = true;
  }

  #take(bytes: Uint8Array, at: number): void {
    const kind = bytes[at] as number;
    const lane = readNumber(bytes, at + 1);
    const size = readNumber(bytes, at + 5);
    if (kind === KIND.data) {
      this.#lane = lane;
      this.#left = size;
    } else if (kind === KIND.open || kind === KIND.end || kind === KIND.reset || kind === KIND.window) {
      this.#sink.onControl(kind, lane, size);
    } else {
      this.stop();
      this.#sink.onFault(`unknown frame kind ${kind}`);
    }
  }
}
