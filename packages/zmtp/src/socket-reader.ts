/** Sockets of node:net that read into memory of ours: none is asked for with each read, and long bodies go at once to where they belong. */
import { Socket } from 'node:net';
import type { OnReadOpts, SocketConnectOpts } from 'node:net';
import { allocate } from './memory.js';

/** Who takes what comes in. */
export interface ByteSink {
  /** Where the bytes that come next belong, if that is known and worth it: then they are read into it. Asked after each read. */
  readonly room: Uint8Array | undefined;
  /** Bytes came: the first ones of {@link room}, as it was when it was last asked for, or memory that is the taker's. */
  onBytes(chunk: Uint8Array): void;
}

/** What is read at a time where nobody knows better. */
const READ_BYTES = 2 ** 16;
const SHARED = new Uint8Array(READ_BYTES);
const { buffer: SHARED_MEMORY } = SHARED;
const NOTHING = new Uint8Array(0);
/** What was read last of it: often there are as many bytes the next time. */
let read = NOTHING;
/** How a socket of node:net is told that it gets bytes. */
const RAW = 'buffer' as BufferEncoding;

/** As `net.Socket` asks for it. Every byte is taken out of the shared memory before another socket may read into it. */
class ReadBuffer implements OnReadOpts {
  taker: ByteSink | undefined;

  readonly buffer = (): Uint8Array => this.taker?.room ?? SHARED;

  readonly callback = (bytes: number, memory: Uint8Array): boolean => {
    if (memory === SHARED) {
      if (read.length !== bytes) read = new Uint8Array(SHARED_MEMORY, 0, bytes);
      const chunk = allocate(bytes);
      chunk.set(read);
      this.taker?.onBytes(chunk);
    } else this.taker?.onBytes(memory.subarray(0, bytes));
    return true;
  };
}

/** What node:net has and does not declare. */
interface Internals {
  _handle: object | null;
  _server: unknown;
}

/** See {@link ByteSink}. */
export class SocketReader extends Socket {
  readonly #buffer: ReadBuffer;
  /** Of what was sent past the stream and is not yet taken. */
  #done: ((error?: Error | null) => void) | undefined;

  private constructor(options: object) {
    const onread = new ReadBuffer();
    const all: object = { ...options, onread };
    super(all);
    this.#buffer = onread;
    // Other runtimes may know nothing of `onread`.
    this.on('data', (chunk: Buffer) => {
      onread.taker?.onBytes(chunk);
    });
  }

  /** Being connected to there. */
  static connect(options: SocketConnectOpts): SocketReader {
    return new SocketReader(options).connect(options);
  }

  /** In the place of a socket that a server has just accepted, which is not to be used any more. */
  static accept(accepted: Socket): SocketReader {
    const old = accepted as unknown as Internals;
    const inlet = new SocketReader({ handle: old._handle });
    // The server counts its connections as they close.
    (inlet as unknown as Internals)._server = old._server;
    old._handle = null;
    return inlet;
  }

  /** Who takes what comes from now on. */
  feed(taker: ByteSink): void {
    this.#buffer.taker = taker;
  }

  /** As {@link Wire.hasUnsent}. */
  get hasUnsent(): boolean {
    return this.#done !== undefined || this.writableLength > 0;
  }

  /** As {@link Wire.send}. Past the stream where that has nothing to add: its states and ticks cost as much as ours all together. */
  send(parts: readonly Uint8Array[], done: (error?: Error | null) => void): void {
    if (parts.length === 1 && !this.connecting && this.writableLength === 0) {
      this.#done = done;
      this._write(parts[0], RAW, this.#onSent);
      return;
    }
    if (parts.length > 1) this.cork();
    for (const part of parts) this.write(part);
    if (parts.length > 1) this.uncork();
    if (this.writableLength === 0) done();
    else this.write(NOTHING, done);
  }

  readonly #onSent = (error?: Error | null): void => {
    const done = this.#done;
    this.#done = undefined;
    if (error !== undefined && error !== null) this.destroy(error);
    // Node does not call it an error when the socket was cut before it could be written.
    done?.(this.destroyed ? (error ?? new Error('cut')) : undefined);
  };
}
