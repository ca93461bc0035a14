/** Majordomo pool: requests of this process. Books only. */
import { HeapDeadline } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';

const LOW = 2 ** 32;

/** A request that somebody waits for. To the broker's engine it is a client of its own, whose address is a number of 8 bytes. */
export class PoolCall {
  readonly id: number;
  readonly peer: Peer;
  /** Silence after which it has failed. */
  readonly timeoutMs: number;
  /** When that will be. */
  readonly patience = new HeapDeadline<PoolCall>(this);

  /** `id` is a safe integer from 0 up. */
  constructor(id: number, timeoutMs: number) {
    const address = new Uint8Array(8);
    const view = new DataView(address.buffer);
    view.setUint32(0, Math.floor(id / LOW));
    view.setUint32(4, id % LOW);
    this.id = id;
    this.peer = { key: keyOf(id), id: address };
    this.timeoutMs = timeoutMs;
  }
}

/** The key of a call's peer. Begins beyond latin1, so that no routing id of a worker, whatever its bytes, has the same. */
export function keyOf(id: number): string {
  return `\u2192${id}`;
}
