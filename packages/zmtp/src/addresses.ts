/** How many connections each address has. */
import type { Connection } from './connection.js';

/** Counts connections by where they came from; those without an address, as over ipc, are not counted. */
export class Addresses {
  readonly #counts = new Map<string, number>();
  readonly #of = new Map<Connection, string>();

  /** Connections from there. */
  count(address: string | undefined): number {
    return address === undefined ? 0 : (this.#counts.get(address) ?? 0);
  }

  add(link: Connection, address: string | undefined): void {
    if (address === undefined) return;
    this.#of.set(link, address);
    this.#counts.set(address, this.count(address) + 1);
  }

  /** Does nothing for one that was never added. */
  remove(link: Connection): void {
    const address = this.#of.get(link);
    if (address === undefined) return;
    this.#of.delete(link);
    const left = this.count(address) - 1;
    if (left > 0) this.#counts.set(address, left);
    else this.#counts.delete(address);
  }
}
