/** The outgoing messages for one peer: 28/REQREP, "outgoing queue". */
import type { MemoryBudget, Peer } from '@proj/transport';
import { Backlog, compacted, Fifo } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import type { Reuse } from './engine/framing/bytes.js';
import { beginWrite, endWrite, LONG_BYTES } from './fast.js';
import type { SharedConnection } from './wire.js';

/** Total of outgoing messages in all pipes of a socket. */
export interface Outgoing {
  bytes: number;
  messages: number;
  readonly maxBytes: number;
  /** As {@link Reuse.settle}. */
  readonly settle?: Reuse['settle'];
  /** Called when a message begins to wait. */
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
}

/** A message that several pipes of a socket keep. It is copied once, and counts once in total. */
export class SharedMessage {
  /** The pipes that have it. */
  holders = 0;
  bytes = 0;
  /** What is kept of it, in the memory it came in, or settled. */
  compact: readonly Uint8Array[] | undefined;
  settled: readonly Uint8Array[] | undefined;
}

/** Overhead of a message besides its bytes: a few objects. */
export const MESSAGE_BYTES = 256;

/** With more outgoing bytes than this, a new message waits for a slow peer. */
const BACKLOG_BYTES = 2 ** 20;

/** Limits of a pipe. */
export interface PipeLimits {
  /** Messages, waiting and being written. */
  readonly highWaterMark: number;
  /** Bytes, likewise. A single message of any size fits. */
  readonly peerQueueMaxBytes: number;
  /** Shared among pipes: those of a connection may hold as much as is left for the others. If absent, only the pipe's own limits apply. */
  readonly outgoing?: Outgoing;
}

/**
 * Lives as long as its connection if the peer connected to us, and as long as the socket if we connect: waiting messages are then kept for the
 * next connection.
 */
export class Pipe {
  /** The other end, as the socket names it. A router learns it from the first connection. */
  peer: Peer | undefined;
  /** True if it outlives its connections. */
  readonly lasting: boolean;
  /** Connections that announced the same routing id, in order of arrival. They wait until it is free. */
  rivals = new Set<Connection>();
  /** For the dealer: index among the pipes with room; -1 for none. */
  place = -1;
  readonly #limits: PipeLimits;
  #waiting = new Backlog();
  /** Of a publisher: the messages that are being written or waiting. */
  #shares: Fifo<SharedMessage> | undefined;
  #link: Connection | undefined;
  /** The connection that it shares with other pipes, for its whole life. */
  #shared: SharedConnection | undefined;
  #bytes = 0;
  #writing = 0;
  #writingBytes = 0;
  /** Long bodies being written. */
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

  /** The same, in all pipes of its connection: many lanes are one peer. */
  get bytesTogether(): number {
    return this.#shared?.outgoing ?? this.#bytes;
  }

  /** The current connection. */
  get link(): Connection | undefined {
    return this.#link;
  }

  get hasRoom(): boolean {
    const { highWaterMark, peerQueueMaxBytes, outgoing } = this.#limits;
    const messages = this.#waiting.length + this.#writing;
    const { bytesTogether } = this;
    if (messages >= highWaterMark) return false;
    // Others may hold more than there is, each with its last message: a peer that reads must get its messages all the same.
    if (messages === 0 && bytesTogether === 0) return true;
    const left = outgoing === undefined ? Infinity : outgoing.maxBytes - outgoing.bytes;
    return (messages === 0 || this.#bytes < peerQueueMaxBytes) && bytesTogether < left;
  }

  /** True when nothing waits and nothing is being written. */
  get isEmpty(): boolean {
    return this.#waiting.length + this.#writing === 0;
  }

  /** True when there is something to write. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Attaches a connection. */
  attach(link: Connection): void {
    this.#link = link;
    if (!this.lasting) this.#shared = link.carrier;
    if (this.isWaiting) link.wake();
  }

  /** The connection has ended; a message being written is lost with it. */
  detach(): void {
    this.#link = undefined;
    // The system may still be reading them.
    this.#bodies = [];
    this.landed();
    // Waiting messages will never be sent.
    if (!this.lasting) this.#empty();
  }

  /** Its connection was cut and ends soon: drops the outgoing messages. Returns the bytes that nobody else keeps. Not for a lasting pipe. */
  abandon(): number {
    const before = this.#limits.outgoing?.bytes ?? this.#bytes;
    this.#bodies = [];
    this.landed();
    this.#empty();
    return before - (this.#limits.outgoing?.bytes ?? 0);
  }

  #empty(): void {
    const { length } = this.#waiting;
    this.#waiting = new Backlog();
    this.#count(-this.#bytes, -length, this.#letGo(length));
  }

  /** Accepts a message. Only while {@link hasRoom}. `shared`: the same message in all pipes that get it. */
  push(frames: readonly Uint8Array[], shared?: SharedMessage): void {
    this.#keep(frames, shared);
    let bytes = 0;
    for (const { length } of frames) bytes += length;
    let elsewhere = 0;
    if (shared !== undefined) {
      if (shared.holders++ > 0) elsewhere = bytes;
      shared.bytes = bytes;
      (this.#shares ??= new Fifo()).push(shared);
    }
    // Last, since memory may be short: this pipe, or another that has the message, may be cut now.
    this.#count(bytes, 1, elsewhere);
    this.#link?.wake();
  }

  /** Takes the messages of the next write, up to about `maxBytes`; at least one if any wait. They occupy room until {@link landed}. */
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

  /** A second copy of the taken messages exists until {@link landed}. */
  charge(): void {
    const bytes = this.#writingBytes;
    this.#writingBytes += bytes;
    this.#count(bytes, 0);
  }

  /** The taken messages were written or lost: frees their room. */
  landed(): void {
    this.#count(-this.#writingBytes, -this.#writing, this.#letGo(this.#writing));
    this.#writing = this.#writingBytes = 0;
    for (let body = this.#bodies.pop(); body !== undefined; body = this.#bodies.pop()) endWrite(body);
  }

  #keep(frames: readonly Uint8Array[], shared: SharedMessage | undefined): void {
    // If nothing can be written now, or a write is under way, this message waits: detach it from the chunk it arrived in.
    const mustWait = this.#writing > 0 || this.#link === undefined;
    if (mustWait && shared === undefined && this.#waiting.pack(frames)) return;
    const waiting = mustWait ? this.#settled(frames, shared) : frames;
    for (const frame of waiting) if (frame.length >= LONG_BYTES) beginWrite(frame);
    this.#waiting.push(waiting);
  }

  /** What to keep of a message that waits. */
  #settled(frames: readonly Uint8Array[], shared: SharedMessage | undefined): readonly Uint8Array[] {
    if (shared?.settled !== undefined) return shared.settled;
    const compact = shared?.compact ?? compacted(frames);
    if (shared !== undefined) shared.compact = compact;
    const settle = this.#limits.outgoing?.settle;
    if (settle === undefined || this.#bytes < BACKLOG_BYTES) return compact;
    const settled = compact.map(settle);
    if (shared !== undefined) shared.settled = settled;
    return settled;
  }

  /** The first messages leave; returns the bytes that other pipes still keep. */
  #letGo(messages: number): number {
    let kept = 0;
    if (this.#shares === undefined) return kept;
    for (let left = messages; left > 0; left--) {
      const shared = this.#shares.shift();
      if (shared !== undefined && --shared.holders > 0) kept += shared.bytes;
    }
    return kept;
  }

  /** `elsewhere`: bytes among them that other pipes keep as well. */
  #count(bytes: number, messages: number, elsewhere = 0): void {
    this.#bytes += bytes;
    if (this.#shared !== undefined) this.#shared.outgoing += bytes;
    const { outgoing } = this.#limits;
    if (outgoing === undefined) return;
    outgoing.bytes += bytes - Math.sign(bytes) * elsewhere;
    outgoing.messages += messages;
    if (bytes + messages > 0) outgoing.memory?.moved(bytes + MESSAGE_BYTES);
  }
}
