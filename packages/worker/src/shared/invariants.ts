/** How the sessions of all protocols state their invariants. */

/** Throws when an invariant does not hold. */
export type Check = (holds: boolean, what: string) => void;

/** `who` begins each message. */
export function checksOf(who: string): Check {
  return (holds, what) => {
    if (!holds) throw new Error(`${who}: ${what}`);
  };
}
