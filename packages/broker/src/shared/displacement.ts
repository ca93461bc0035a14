/** Chooses what gives way to a newcomer when a limit is reached, before anything is dropped. Knows no protocol. */
import type { HolderClasses } from './holder-classes.js';

/** Maximum number of values that one newcomer displaces. */
const DISPLACED_MAX = 64;

/** What a holder has. */
export interface Hoard<Value> {
  readonly held: number;
  /** What it holds, newest first. */
  readonly newest: Iterable<Value>;
}

/** What a newcomer lacks. */
interface Lack {
  /** Places in its queue. */
  readonly places: number;
  readonly bytes: number;
}

/** The newest values of holders with far more than `amount`, of each as long as it has. */
export function* surplusOf<Owner, Value>(
  holders: HolderClasses<Owner>,
  amount: number,
  hoardOf: (owner: Owner) => Hoard<Value>,
  costOf: (value: Value) => number,
): Generator<Value> {
  const least = holders.leastAbove(amount);
  for (const owner of holders.above(amount)) {
    const { held, newest } = hoardOf(owner);
    let left = held;
    for (const value of newest) {
      if (left < least) break;
      yield value;
      left -= costOf(value);
    }
  }
}

/** What must go for the newcomer, first for its place and then for its bytes; `undefined` if that would not make room, or would take too many. */
export function chooseDisplaced<Value extends { readonly cost: number }>(
  { places, bytes }: Lack,
  inQueue: Iterable<Value>,
  anywhere: Iterable<Value>,
): ReadonlySet<Value> | undefined {
  const chosen = new Set<Value>();
  let lacking = bytes;
  if (places > DISPLACED_MAX) return undefined;
  if (places > 0)
    for (const value of inQueue) {
      chosen.add(value);
      lacking -= value.cost;
      if (chosen.size === places) break;
    }
  if (chosen.size < places) return undefined;
  if (lacking > 0)
    for (const value of anywhere) {
      if (chosen.has(value)) continue;
      if (chosen.size === DISPLACED_MAX) return undefined;
      chosen.add(value);
      lacking -= value.cost;
      if (lacking <= 0) break;
    }
  return lacking > 0 ? undefined : chosen;
}
