/** The last keys that were acknowledged. Rule 24 of docs/protocols/pzq.md. */

/** Remembers the last `max` keys added: a set and the ring of its members, so that each step is O(1). */
export class SeenKeys {
  readonly #max: number;
  readonly #keys = new Set<string>();
  readonly #ring: string[] = [];
  #next = 0;

  /** With 0 it remembers nothing. */
  constructor(max: number) {
    this.#max = max;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Adds a key; the oldest one is forgotten where there is no room. */
  add(key: string): void {
    if (this.#max === 0 || this.#keys.has(key)) return;
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
    this.#ring[this.#next] = key;
    this.#next = (this.#next + 1) % this.#max;
  }

  /** Throws when set and ring disagree. */
  assertInvariants(): void {
    if (this.#keys.size !== this.#ring.length || this.#keys.size > this.#max)
      throw new Error(`${this.#keys.size} keys are known, ${this.#ring.length} remembered, ${this.#max} allowed`);
  }
}
