/** Counts connections per address. */
import type { Connection } from './connection.js';

/** Counts connections by remote address. Ignores connections without one, such as those over ipc. */
export class Addresses {
  readonly #counts = new Map<string, number>();
  readonly #of = new Map<Connection, string>();

  /** Connections from this address. */
  count(address: string | undefined): number {
    return address === undefined ? 0 : (this.#counts.get(address) ?? 0);
  }

  add(link: Connection, address: string | undefined): void {
    if (address === undefined) return;
    this.#of.set(link, address);
    this.#counts.set(address, this.count(address) + 1);
  }

  /** Ignores an address that was never added. */
  remove(link: Connection): void {
    const address = this.#of.get(link);
    if (address === undefined) return;
    this.#of.delete(link);
    const left = this.count(address) - 1;
    if (left > 0) this.#counts.set(address, left);
    else this.#counts.delete(address);
  }
}
