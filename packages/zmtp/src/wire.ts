/** What a connection needs from a byte stream: its own socket, or a lane of a shared one. */
import type { Allocate } from './engine/framing/bytes.js';
import type { ReadQueue } from './turn.js';

/** Receives bytes. */
export interface ByteSink {
  /** Where to read the next bytes, if that is known and worth a read of its own. Asked before each read. */
  readonly room: Uint8Array | undefined;
  /** Bytes arrived: at the start of the last {@link room}, or in memory that the sink now owns. */
  onBytes(chunk: Uint8Array): void;
}

/** Called once: without an error when the system has taken the bytes, or with the reason why it has not. */
export type Written = (error?: Error | null) => void;

/** A connection that several wires share. */
export interface SharedConnection {
  /** Identifies it within this process. */
  readonly name: string;
  /** Bytes on their way out in the pipes of all wires. The pipes count them. */
  outgoing: number;
}

/** The part of `net.Socket` that connections use, with the same meaning. */
export interface Wire {
  /** Sets the sink of all bytes from now on. */
  feed(sink: ByteSink): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  /** Writes one or more parts in one system call. May call `done` synchronously. Do not call it again before `done`. */
  send(parts: readonly Uint8Array[], done: Written): void;
  /** Memory for the next `send`, if that is of one part; used again after `done`. Absent if any memory will do. */
  readonly allocateOutput?: Allocate | undefined;
  /** True while the system has not taken everything that was sent. */
  readonly hasUnsent: boolean;
  /** Ends our direction after the output. */
  end(): void;
  /** Ends both directions at once. */
  destroy(): void;
  /** Ends both directions after the output. */
  destroySoon(): void;
  pause(): void;
  resume(): void;
  /**
   * Until when other users of the shared connection prevented reading; `Infinity` while they still do. In the time of the watch. Absent on a
   * connection of its own.
   */
  readonly stalledUntil?: number;
  /** The shared connection. Absent on a connection of its own. */
  readonly carrier?: SharedConnection;
  /** The queue in which all users of a shared connection wait to resume reading. Absent on a connection of its own. */
  readonly readers?: ReadQueue;
  setKeepAlive(enable: boolean, initialDelayMs: number): void;
  /** Remote address, as reported by node:net. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}
