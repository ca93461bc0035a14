/** Work on long lists in pieces, so that the event loop turns in between. Knows no files. */
import { setImmediate } from 'node:timers/promises';

/** Items of which each is some work, and items that are only compared. */
const PIECE = 256;
const COMPARED = 2048;

let latest: Promise<void> = Promise.resolve();

/** A turn of the event loop for this list alone: however many are handled at once, only one piece is in each turn. */
export function turn(): Promise<void> {
  latest = latest.then(() => setImmediate());
  return latest;
}

/** The items in their order, so many at a time. */
export async function* inPieces<Item>(items: readonly Item[], size = PIECE): AsyncGenerator<Item[], void, void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await turn();
    yield items.slice(at, at + size);
  }
}

/** A sorted copy: pieces are sorted, and then merged two by two. */
export async function sorted<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for await (const run of inPieces(items, COMPARED)) runs.push(run.sort(compare));
  while (runs.length > 1) {
    const longer: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      longer.push(await merged(runs[at] as Item[], runs[at + 1] ?? [], compare));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged<Item>(
  some: readonly Item[],
  others: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let [at, otherAt] = [0, 0]; all.length < some.length + others.length;) {
    const [one, other] = [some[at], others[otherAt]] as [Item, Item];
    const isFirst = otherAt === others.length || (at < some.length && compare(one, other) <= 0);
    all.push(isFirst ? one : other);
    if (isFirst) at++;
    else otherAt++;
    if (all.length % COMPARED === 0) await turn();
  }
  return all;
}
