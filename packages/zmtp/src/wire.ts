/** What a connection needs of a byte stream: a socket of its own, or a lane of a shared one. */
import type { ReadQueue } from './turn.js';

/** Takes the bytes that come in. */
export interface ByteSink {
  /** Where the next bytes belong, if that is known and worth a read of its own: they are read into it. Asked before each read. */
  readonly room: Uint8Array | undefined;
  /** Bytes came: at the start of {@link room} as it was last returned, or in memory that is the sink's from now on. */
  onBytes(chunk: Uint8Array): void;
}

/** Called once with the fate of what was sent: the system has taken it, or the error says why not. */
export type Written = (error?: Error | null) => void;

/** The part of `net.Socket` that connections use, with its meaning. */
export interface Wire {
  /** Names the sink of all bytes from now on. */
  feed(sink: ByteSink): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  /** Writes one or more parts with one system call. `done` may be called at once. Not to be called again before `done` was. */
  send(parts: readonly Uint8Array[], done: Written): void;
  /** True while the system has not taken all that was sent. */
  readonly hasUnsent: boolean;
  /** Ends our direction after what was sent. */
  end(): void;
  /** Ends both directions at once. */
  destroy(): void;
  /** Ends both directions after what was sent. */
  destroySoon(): void;
  pause(): void;
  resume(): void;
  /**
   * Until when nothing was read because of others that share the connection, `Infinity` while that lasts; in the time of the watch.
   * Absent on connections of their own.
   */
  readonly stalledUntil?: number;
  /** Names the connection among all of this process that are shared. Absent on connections of their own. */
  readonly carrier?: string;
  /** The queue in which all that share the connection wait to read on. Absent on connections of their own. */
  readonly readers?: ReadQueue;
  setKeepAlive(enable: boolean, initialDelayMs: number): void;
  /** Where the other side is, as node:net tells. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}
