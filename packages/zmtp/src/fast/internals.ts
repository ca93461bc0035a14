/**
 * Everything that Node has and does not document, and whether it is there: no other file touches it. Without it, as on Bun and Deno, accepted
 * sockets are read, and all sockets written, as streams.
 */
import { Socket } from 'node:net';
import type { OnReadOpts } from 'node:net';

/** As Node calls back: without an error also when the socket was destroyed before it could be written. */
type Done = (error?: Error | null) => void;

interface Internals {
  /** The connection itself, which another socket can take over. */
  _handle: object | null;
  /** The server that counts this connection until it closes. */
  _server: unknown;
  /** What a stream calls for each chunk in the end. */
  _write(chunk: Uint8Array, encoding: string, done: Done): void;
}

/** Checked when the package is loaded. Other runtimes have fields of these names that do less. */
export const HAS_INTERNALS = check(process.versions, new Socket());

/** True for sockets of Node with all that {@link adopt} and {@link writeNow} need. */
export function check(versions: Readonly<Record<string, string | undefined>>, socket: object): boolean {
  const { _handle, _server, _write } = socket as Partial<Internals>;
  const isNode = versions['bun'] === undefined && versions['deno'] === undefined;
  return isNode && _handle === null && _server === null && typeof _write === 'function';
}

/** A socket in place of one that a server has just accepted, which must not be used any more: `onread` cannot be given to a server. */
export function adopt(accepted: Socket, onread: OnReadOpts): Socket {
  const old = accepted as unknown as Internals;
  const options: object = { handle: old._handle, onread };
  const socket = new Socket(options);
  (socket as unknown as Internals)._server = old._server;
  old._handle = null;
  return socket;
}

/** Writes past the stream. Only while the stream itself has nothing to write. */
export function writeNow(socket: Socket, bytes: Uint8Array, done: Done): void {
  (socket as unknown as Internals)._write(bytes, 'buffer', done);
}
