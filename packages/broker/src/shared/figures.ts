/** Matches the peers that an operator names. The figures themselves: `@proj/transport/engine`. Knows no protocol. */
import type { Peer } from '@proj/transport';
import { hexOf, nameOf } from '@proj/transport/engine';

/** True if this is the routing id of the peer, as text or in hex. */
export function isNamed(peer: Peer, name: string): boolean {
  return nameOf(peer) === name || hexOf(peer) === name;
}
