/** Which broker to try next: one list, in the user's order. The protocols leave recovery to the client. */

/** A list of endpoints that remembers which one answered last. An endpoint is named by its index. */
export class Endpoints {
  readonly #all: readonly string[];
  readonly #answeredAt: number[];
  #first = 0;

  /** At least one endpoint. */
  constructor(all: readonly string[]) {
    this.#all = all;
    this.#answeredAt = all.map(() => -Infinity);
  }

  /** Where the next call is sent first. */
  get first(): number {
    return this.#first;
  }

  /** A reply came from there: it is tried first from now on. */
  answered(index: number, now: number): void {
    this.#first = index;
    this.#answeredAt[index] = now;
  }

  /**
   * A request sent there at `since` stayed unanswered. If no other request was answered since, new calls start with the next endpoint; otherwise
   * the service is slow rather than the endpoint gone, and nothing changes.
   */
  silent(index: number, since: number): void {
    if (this.#first === index && (this.#answeredAt[index] as number) < since) this.#first = this.after(index);
  }

  /** The next one in the list, wrapping round. */
  after(index: number): number {
    return (index + 1) % this.#all.length;
  }

  /** The endpoint as the user wrote it. */
  name(index: number): string {
    return this.#all[index] as string;
  }

  /** The `count` endpoints from `index` on, wrapping round. */
  namesFrom(index: number, count: number): string[] {
    return Array.from({ length: count }, (_, offset) => this.name((index + offset) % this.#all.length));
  }
}
