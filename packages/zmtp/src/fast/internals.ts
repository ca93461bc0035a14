/**
 * All undocumented parts of Node that the package uses, with a check whether they exist. No other file touches them. Without them, as on Bun and
 * Deno, accepted sockets are read, and all sockets written, as streams.
 */
import { Socket } from 'node:net';
import type { OnReadOpts } from 'node:net';

/** As Node calls back: no error if the socket was destroyed before the write. */
type Done = (error?: Error | null) => void;

interface Internals {
  /** The connection handle, which another socket can take over. */
  _handle: object | null;
  /** The server that counts this connection until it closes. */
  _server: unknown;
  /** The function that a stream finally calls for each chunk. */
  _write(chunk: Uint8Array, encoding: string, done: Done): void;
}

/** Checked at load. Other runtimes have fields with these names that do less. */
export const HAS_INTERNALS = check(process.versions, new Socket());

/** True for Node sockets that have everything that {@link adopt} and {@link writeNow} need. */
export function check(versions: Readonly<Record<string, string | undefined>>, socket: object): boolean {
  const { _handle, _server, _write } = socket as Partial<Internals>;
  const isNode = versions['bun'] === undefined && versions['deno'] === undefined;
  return isNode && _handle === null && _server === null && typeof _write === 'function';
}

/** Replaces a socket that a server has just accepted; do not use the original any more. Needed because a server cannot be given `onread`. */
export function adopt(accepted: Socket, onread: OnReadOpts): Socket {
  const old = accepted as unknown as Internals;
  const options: object = { handle: old._handle, onread };
  const socket = new Socket(options);
  (socket as unknown as Internals)._server = old._server;
  old._handle = null;
  return socket;
}

/** Bypasses the stream. Only while the stream itself has nothing to write. */
export function writeNow(socket: Socket, bytes: Uint8Array, done: Done): void {
  (socket as unknown as Internals)._write(bytes, 'buffer', done);
}
