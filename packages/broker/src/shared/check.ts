/** How the books of all brokers state what must be true of them. No protocol. */

/** Throws an `Error` that names the fact when it does not hold. */
export function check(holds: boolean, fact: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${fact}`);
}
