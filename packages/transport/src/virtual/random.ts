/** Repeatable randomness: everything random in the virtual network derives from one seed. */

/** Hash of a text to 32 bits (FNV-1a over UTF-16 code units), started from `basis`. */
function hash(text: string, basis: number): number {
  let value = basis;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Rounds after which the seed words have mixed, according to sfc32's author. */
const WARM_UP_ROUNDS = 15;

/**
 * A seeded generator: the same seed gives the same numbers on every machine. Chris Doty-Humphrey's sfc32 (public domain,
 * part of PractRand), 128 bits of state. Not for secrets.
 */
export class SeededRandom {
  readonly seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Any number or text is a seed; `1` and `'1'` are equal. */
  constructor(seed: number | string) {
    this.seed = String(seed);
    this.#a = hash(this.seed, 0x811c9dc5);
    this.#b = hash(this.seed, 0x9e3779b9);
    this.#c = hash(this.seed, 0x85ebca6b);
    for (let i = 0; i < WARM_UP_ROUNDS; i++) this.uint32();
  }

  /** Uniform in 0 to 2^32 - 1. */
  uint32(): number {
    const value = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + value) | 0;
    return value >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    return this.uint32() / 2 ** 32;
  }

  /** Uniform integer in 0 to `bound - 1`; `bound` is a positive integer. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Uniform in [`low`, `high`). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the items. Throws a `RangeError` if there is none. */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('pick from an empty list');
    return items[this.below(items.length)] as Item;
  }

  /**
   * A separate generator for the part named `label`, depending only on this one's seed: drawing more numbers here, or adding another part, does
   * not change its sequence.
   */
  fork(label: number | string): SeededRandom {
    return new SeededRandom(`${this.seed}/${label}`);
  }

  /** A version 4 UUID in lower case. */
  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.uint32().toString(16).padStart(8, '0')).join('');
    const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
