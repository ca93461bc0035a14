/** The access rules in force at a broker. No protocol: each engine knows its names and which right a command needs. */
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

  /** True when the rules do not allow this peer's key the right. One comparison while there are no rules. */
  forbid(peer: Peer, right: AccessRight, name: string): boolean {
    return this.#access !== undefined && !this.#access.allows(peer, right, name);
  }
}
