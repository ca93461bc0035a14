/** What a link needs of a byte stream: a socket of node:net, or a lane that shares one. */

/** The part of `net.Socket` that links use, with its meaning. */
export interface Wire {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  /** Calls `done` when the bytes have been handed to the system, or with the reason why not. */
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): unknown;
  cork(): void;
  uncork(): void;
  /** Bytes written and not yet handed to the system. */
  readonly writableLength: number;
  /** Ends our direction after what was written. */
  end(): unknown;
  /** Ends both directions at once. */
  destroy(): unknown;
  /** Ends both directions after what was written. */
  destroySoon(): void;
  pause(): unknown;
  resume(): unknown;
  setKeepAlive(enable: boolean, initialDelayMs: number): unknown;
  /** Where the other side is, as node:net tells. */
  /** Where the other side is, as node:net tells. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}
