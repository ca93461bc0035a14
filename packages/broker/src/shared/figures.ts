/** Which peer does an operator mean? The figures themselves: `@proj/transport/engine`. No protocol. */
import type { Peer } from '@proj/transport';
import { hexOf, nameOf } from '@proj/transport/engine';

/** True if this is the routing id of the peer, as text or in hex. */
export function isNamed(peer: Peer, name: string): boolean {
  return nameOf(peer) === name || hexOf(peer) === name;
}
