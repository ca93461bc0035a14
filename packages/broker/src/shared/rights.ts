/** A broker's current access rules. Knows no protocol: each engine knows its names and which right a command needs. */
import type { Access, AccessRight, Peer } from '@proj/transport';

/** No restrictions until rules are set. */
export class Rights {
  #access: Access | undefined;

  /** True once rules are set. */
  get limited(): boolean {
    return this.#access !== undefined;
  }

  /** Replaces the rules. */
  replace(access: Access): void {
    this.#access = access;
  }

  /** True if the rules deny this peer's key the right. One comparison while there are no rules. */
  forbid(peer: Peer, right: AccessRight, name: string): boolean {
    return this.#access !== undefined && !this.#access.allows(peer, right, name);
  }
}
