/** What a client of any protocol can do that does not read. */
import type { Port, Stage } from '../attack.js';

const AT_ONCE = 100;

/** Asks until the broker keeps all the small answers that it keeps for one client, and leaves; again and again. */
export async function leaveUnread(stage: Stage, port: Port, ask: Buffer): Promise<void> {
  const some = Buffer.concat(new Array<Buffer>(AT_ONCE).fill(ask));
  const enough = stage.size(2000, 200_000);
  for await (const _ of stage.rounds(2)) {
    const peer = await stage.open(port, { reads: false });
    for (let asked = 0; asked < enough && !stage.isOver && !peer.isClosed; asked += AT_ONCE) await peer.write(some);
    peer.destroy();
  }
}
