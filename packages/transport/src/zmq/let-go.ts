/** Detects when libzmq has finished with a closed socket. */

/** What it uses of a socket. */
export interface WatchedSocket {
  /** Its events; they end when libzmq has released it. */
  readonly events: AsyncIterable<unknown>;
}

/**
 * Resolves when libzmq has sent what the socket held, or has given it up after its linger: it continues after a socket was closed, but not after
 * the process has ended. Call it before closing the socket, and only if nothing else reads its events. If libzmq has no room for another
 * observer, it resolves at once.
 */
export async function untilLetGo(socket: WatchedSocket): Promise<void> {
  try {
    const events = socket.events[Symbol.asyncIterator]();
    while ((await events.next()).done !== true);
  } catch {
    // No room, or the events have already ended.
  }
}
