/** Back-pressure for a handler's partial replies. */
import type { Clock } from '@proj/heartbeat';

/** Messages that may wait in a socket before a handler has to wait too. */
const PENDING_MAX = 64;

/** How often a waiting handler is checked: ports do not report when they have room again. */
const ROOM_CHECK_MS = 5;

/** Resolves when there is room for one more message, or the handler's result is no longer wanted. */
export async function untilRoom(
  sockets: { readonly pending: number },
  clock: Clock,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver() && sockets.pending >= PENDING_MAX)
    await new Promise<void>((resolve) => {
      clock.at(clock.now() + ROOM_CHECK_MS, resolve);
    });
}
