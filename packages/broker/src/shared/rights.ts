/** The rules of access in force at a broker. No protocol: what its names are, and which right a command needs, each engine says. */
import type { Access, AccessRight, Peer } from '@proj/transport';

/** Until rules come, everybody may do everything. */
export class Rights {
  #access: Access | undefined;

  /** True once there are rules. */
  get limited(): boolean {
    return this.#access !== undefined;
  }

  /** Puts these in force in place of any others. */
  replace(access: Access): void {
    this.#access = access;
  }

  /** Whether the rules keep whoever has this peer's key from it. One comparison while there are none. */
  forbid(peer: Peer, right: AccessRight, name: string): boolean {
    return this.#access !== undefined && !this.#access.allows(peer, right, name);
  }
}
