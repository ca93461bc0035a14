/**
 * Messages that wait for one peer. Contains no limit: its owner has one. Each buffer costs half a kilobyte besides its bytes, most of it from an
 * allocator that hardly gives it back, so small messages of a backlog share pieces of memory; they leave in order, so a piece is freed soon.
 */
import { totalBytes } from '@proj/frames';
import { Fifo } from './fifo.js';
import { mapMemory } from './mapped-memory.js';

type Message = readonly Uint8Array[];

/** Up to this size, with a header for each frame, a message is packed. */
const PACKED_MAX_BYTES = 4096;
/** A message of shorter frames on average is packed whatever its size: their objects would take more memory than their bytes. */
const SHORT_BYTES = 128;
/** The length of a frame, doubled, plus 1 if another one follows. Little-endian. */
const HEADER_BYTES = 4;
/** In place of a length: here comes a message that is not packed. */
const APART = -1;
/** The largest piece, unless one message needs more. */
const PIECE_BYTES = 65_536;
/** Pieces from this size on are mapped. */
const MAPPED_BYTES = 16_384;

/** Packed messages, one after the other. */
class Piece {
  readonly #memory: Uint8Array;
  #from = 0;
  #to = 0;

  constructor(bytes: number) {
    this.#memory = (bytes < MAPPED_BYTES ? undefined : mapMemory(bytes)) ?? new Uint8Array(bytes);
  }

  get size(): number {
    return this.#memory.length;
  }

  get isEmpty(): boolean {
    return this.#from === this.#to;
  }

  hasRoom(bytes: number): boolean {
    return this.#to + bytes <= this.#memory.length;
  }

  add(frames: Message): void {
    const memory = this.#memory;
    let at = this.#to;
    for (let index = 0, left = frames.length - 1; left >= 0; index++, left--) {
      const frame = frames[index] as Uint8Array;
      this.#writeHeader(at, frame.length * 2 + (left > 0 ? 1 : 0));
      at += HEADER_BYTES;
      if (frame.length > 0) memory.set(frame, at);
      at += frame.length;
    }
    this.#to = at;
  }

  /** Marks the place of a message that is not packed. */
  addPlace(): void {
    this.#writeHeader(this.#to, APART);
    this.#to += HEADER_BYTES;
  }

  /** Removes the oldest message, whose frames are views, or the place of one. */
  shift(): Message | undefined {
    const { buffer, byteOffset } = this.#memory;
    const frames: Uint8Array[] = [];
    let at = this.#from;
    let follows = true;
    while (follows) {
      const header = this.#readHeader(at);
      at += HEADER_BYTES;
      if (header === APART) {
        this.#from = at;
        return undefined;
      }
      const length = header >>> 1;
      frames.push(new Uint8Array(buffer, byteOffset + at, length));
      at += length;
      follows = (header & 1) === 1;
    }
    this.#from = at;
    return frames;
  }

  /** The same, without removing it. */
  peek(): Message | undefined {
    const from = this.#from;
    const frames = this.shift();
    this.#from = from;
    return frames;
  }

  #writeHeader(at: number, header: number): void {
    const memory = this.#memory;
    memory[at] = header;
    memory[at + 1] = header >>> 8;
    memory[at + 2] = header >>> 16;
    memory[at + 3] = header >>> 24;
  }

  #readHeader(at: number): number {
    const memory = this.#memory;
    const high = ((memory[at + 2] as number) << 16) | ((memory[at + 3] as number) << 24);
    return (memory[at] as number) | ((memory[at + 1] as number) << 8) | high;
  }
}

/** First in, first out. */
export class Backlog {
  readonly #items = new Fifo<Piece | Message>();
  /** The messages whose places are in pieces. */
  readonly #apart = new Fifo<Message>();
  /** The last item, if it is a piece. */
  #last: Piece | undefined;
  #length = 0;
  #pieceBytes = 0;

  /** Number of messages. */
  get length(): number {
    return this.#length;
  }

  /** Adds a message as it is: one that leaves at once, or whose memory others need as well. */
  push(frames: Message): void {
    this.#length++;
    if (this.#last?.hasRoom(HEADER_BYTES) === true) {
      this.#last.addPlace();
      this.#apart.push(frames);
    } else {
      this.#last = undefined;
      this.#items.push(frames);
    }
  }

  /** Adds a copy of a small message. False, without effect, if it is too large for that. */
  pack(frames: Message): boolean {
    const bytes = totalBytes(frames) + frames.length * HEADER_BYTES;
    if (bytes > Math.max(PACKED_MAX_BYTES, frames.length * SHORT_BYTES)) return false;
    let piece = this.#last;
    if (piece?.hasRoom(bytes) !== true) {
      // At most as much again as there is.
      piece = this.#last = new Piece(Math.max(bytes, Math.min(this.#pieceBytes, PIECE_BYTES)));
      this.#items.push(piece);
      this.#pieceBytes += piece.size;
    }
    piece.add(frames);
    this.#length++;
    return true;
  }

  /** The oldest message, without removing it. Its frames may be views of a piece: copy them for keeping. */
  peek(): Message | undefined {
    const item = this.#items.peek();
    return item instanceof Piece ? (item.peek() ?? this.#apart.peek()) : item;
  }

  /** Removes the oldest message. */
  shift(): Message | undefined {
    const item = this.#items.peek();
    if (item === undefined) return undefined;
    this.#length--;
    const frames = item instanceof Piece ? (item.shift() ?? this.#apart.shift()) : item;
    if (item instanceof Piece && !item.isEmpty) return frames;
    this.#items.shift();
    if (item instanceof Piece) this.#pieceBytes -= item.size;
    if (item === this.#last) this.#last = undefined;
    return frames;
  }
}
