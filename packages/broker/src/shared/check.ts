/** How every broker states its invariants. Knows no protocol. */

/** Throws an `Error` that names the fact if it does not hold. */
export function check(holds: boolean, fact: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${fact}`);
}
