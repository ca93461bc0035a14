/** When libzmq is done with a socket that was closed. */

/** What this uses of a socket. */
export interface WatchedSocket {
  /** Its events; they end when libzmq has let go of it. */
  readonly events: AsyncIterable<unknown>;
}

/**
 * Resolves when libzmq has handed over to the network what the socket held, or has given it up after its linger: it goes on
 * behind a socket that was closed, but not in a process that has ended. To be called before the socket is closed, and only
 * where nobody else reads its events. Where libzmq has no room for one more observer it resolves at once.
 */
export async function untilLetGo(socket: WatchedSocket): Promise<void> {
  try {
    const events = socket.events[Symbol.asyncIterator]();
    while ((await events.next()).done !== true);
  } catch {
    // No room, or the events have ended already.
  }
}
