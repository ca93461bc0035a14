/** What a link needs of a byte stream: a socket of node:net, or a lane that shares one. */

import type { ByteSink } from './socket-reader.js';
import type { ReadQueue } from './turn.js';

/** The part of `net.Socket` that links use, with its meaning. */
export interface Wire {
  /** Who takes what comes from now on. */
  feed(taker: ByteSink): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  /**
   * Writes at least one part, all with one call of the system, and calls `done` once it has taken them, perhaps at once, or with the
   * reason why not. Not to be called again before.
   */
  send(parts: readonly Uint8Array[], done: (error?: Error | null) => void): void;
  /** True while something was written and is not yet handed to the system. */
  readonly hasUnsent: boolean;
  /** Ends our direction after what was written. */
  end(): unknown;
  /** Ends both directions at once. */
  destroy(): unknown;
  /** Ends both directions after what was written. */
  destroySoon(): void;
  pause(): unknown;
  resume(): unknown;
  /**
   * Until when nothing was read because of others that share the connection, `Infinity` while that lasts; in the time of the watch.
   * Absent where nobody does.
   */
  readonly stalledUntil?: number;
  /** Where all that share the connection wait for their turn to read on. Absent where nobody does. */
  readonly readers?: ReadQueue;
  setKeepAlive(enable: boolean, initialDelayMs: number): unknown;
  /** Where the other side is, as node:net tells. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}
