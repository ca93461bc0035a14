/** The messages on their way out to one peer: 28/REQREP, "outgoing queue". */
import type { MemoryBudget, Peer } from '@proj/transport';
import { compacted, Fifo } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import { beginWrite, endWrite, LONG_BYTES } from './fast.js';

/** What is on its way out through all pipes of a socket. */
export interface Outgoing {
  bytes: number;
  messages: number;
  readonly maxBytes: number;
  /** Told of what begins to wait. */
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
}

/** What a message occupies beside its bytes: a few objects. */
export const MESSAGE_BYTES = 256;

/** How much may be on its way out at a time. */
export interface PipeLimits {
  /** Messages, waiting and being written. */
  readonly highWaterMark: number;
  /** Bytes, likewise; a single message of any size fits. */
  readonly peerQueueMaxBytes: number;
  /** Shared with other pipes: one may hold as much as there is room left for others. Absent: each has its own bound alone. */
  readonly outgoing?: Outgoing;
}

/**
 * Lives as long as its connection when a peer connected to us, and as long as the socket when we connect: then what waits
 * is kept for the next connection.
 */
export class Pipe {
  /** The other end, as the socket names it; a router learns it with the first connection. */
  peer: Peer | undefined;
  /** True when it outlives its connections. */
  readonly lasting: boolean;
  /** Connections that announced the routing id of this one, in the order in which they came: they wait until it is free. */
  rivals = new Set<Connection>();
  /** The dealer's: its place among those with room; -1 for none. */
  place = -1;
  readonly #limits: PipeLimits;
  #waiting = new Fifo<readonly Uint8Array[]>();
  #link: Connection | undefined;
  #bytes = 0;
  #writing = 0;
  #writingBytes = 0;
  /** Long bodies that are being written. */
  #bodies: Uint8Array[] = [];

  constructor(lasting: boolean, limits: PipeLimits, peer?: Peer) {
    this.lasting = lasting;
    this.#limits = limits;
    this.peer = peer;
  }

  /** Bytes on their way out, waiting and being written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The connection there is now. */
  get link(): Connection | undefined {
    return this.#link;
  }

  get hasRoom(): boolean {
    const { highWaterMark, peerQueueMaxBytes, outgoing } = this.#limits;
    const messages = this.#waiting.length + this.#writing;
    if (messages >= highWaterMark) return false;
    const left = outgoing === undefined ? Infinity : outgoing.maxBytes - outgoing.bytes;
    return messages === 0 ? left > 0 : this.#bytes < Math.min(peerQueueMaxBytes, left);
  }

  /** True when nothing waits and nothing is being written. */
  get isEmpty(): boolean {
    return this.#waiting.length + this.#writing === 0;
  }

  /** True when there is something to write. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Gives it a connection. */
  attach(link: Connection): void {
    this.#link = link;
    if (this.isWaiting) link.wake();
  }

  /** The connection is over; what was being written is lost with it. */
  detach(): void {
    this.#link = undefined;
    // Perhaps the system still reads them.
    this.#bodies = [];
    this.landed();
    // What waits is never sent.
    if (!this.lasting) this.#empty();
  }

  /** Its connection was cut, and will be over in a moment: what was on its way is lost. Returns how many bytes. Not of one that is lasting. */
  abandon(): number {
    const bytes = this.#bytes;
    this.#bodies = [];
    this.landed();
    this.#empty();
    return bytes;
  }

  #empty(): void {
    const { length } = this.#waiting;
    this.#waiting = new Fifo();
    this.#count(-this.#bytes, -length);
  }

  /** Takes a message over. Only while {@link hasRoom}. */
  push(frames: readonly Uint8Array[]): void {
    let bytes = 0;
    for (const frame of frames) {
      bytes += frame.length;
      if (frame.length >= LONG_BYTES) beginWrite(frame);
    }
    this.#count(bytes, 1);
    // Where nothing can be written, or the last write is not over, what comes now waits for a while: not together with what came beside it.
    this.#waiting.push(this.#writing > 0 || this.#link === undefined ? compacted(frames) : frames);
    this.#link?.wake();
  }

  /** The messages of the next write, up to about so many bytes; at least one, if any waits. They take up room until {@link landed}. */
  take(bytes: number): (readonly Uint8Array[])[] {
    const batch: (readonly Uint8Array[])[] = [];
    while (this.#writingBytes < bytes) {
      const frames = this.#waiting.shift();
      if (frames === undefined) break;
      for (const frame of frames) {
        this.#writingBytes += frame.length;
        if (frame.length >= LONG_BYTES) this.#bodies.push(frame);
      }
      batch.push(frames);
    }
    this.#writing += batch.length;
    return batch;
  }

  /** There is a second copy of what was taken, until {@link landed}. */
  charge(): void {
    const bytes = this.#writingBytes;
    this.#writingBytes += bytes;
    this.#count(bytes, 0);
  }

  /** What was taken has been written, or is lost: its room is free. */
  landed(): void {
    this.#count(-this.#writingBytes, -this.#writing);
    this.#writing = this.#writingBytes = 0;
    for (let body = this.#bodies.pop(); body !== undefined; body = this.#bodies.pop()) endWrite(body);
  }

  #count(bytes: number, messages: number): void {
    this.#bytes += bytes;
    const { outgoing } = this.#limits;
    if (outgoing === undefined) return;
    outgoing.bytes += bytes;
    outgoing.messages += messages;
    if (bytes + messages > 0) outgoing.memory?.moved(bytes + MESSAGE_BYTES);
  }
}
