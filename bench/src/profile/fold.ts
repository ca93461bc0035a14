/** A V8 CPU profile, folded into one tree of calls by function: the data of a flame graph. */

/** What `node --cpu-prof` writes, as far as it is used here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** The node that was running, for each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

/** A function, and the functions that it called. */
export interface Flame {
  readonly name: string;
  /** Its location; empty for V8's own functions. */
  readonly place: string;
  /** Its own time and that of all its callees, in microseconds. */
  readonly micros: number;
  /** In alphabetical order, as in all flame graphs. */
  readonly children: readonly Flame[];
}

interface Growing {
  readonly name: string;
  readonly place: string;
  micros: number;
  readonly children: Map<string, Growing>;
}

/** Waiting does not count as work. */
const WAITING = new Set(['(idle)', '(root)']);

/**
 * Folds it: calls of one function from one caller are merged. Waiting is left out, and so are functions that take less than `least` of
 * the whole, from 0 to 1: their time counts for their caller. `placeOf` returns the location of a function, by file and line from 0.
 */
export function foldProfile(
  { nodes, samples, timeDeltas }: CpuProfile,
  least: number,
  placeOf: (url: string, line: number) => string,
): Flame {
  const own = new Map<number, number>();
  samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root: Growing = { name: 'all', place: '', micros: 0, children: new Map() };
  /** Uses its own work list instead of recursion: stacks can be deep. */
  const open: [id: number, path: readonly Growing[]][] = nodes.slice(0, 1).map(({ id }) => [id, [root]]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [id, path] = next;
    const node = byId.get(id);
    if (node === undefined) continue;
    const { functionName, url, lineNumber } = node.callFrame;
    const waits = WAITING.has(functionName);
    const here = waits ? path : [...path, childOf(path.at(-1) ?? root, functionName, placeOf(url, lineNumber))];
    if (!waits) for (const flame of here) flame.micros += own.get(id) ?? 0;
    for (const child of node.children ?? []) open.push([child, here]);
  }
  return settle(root, least * root.micros);
}

function childOf(parent: Growing, functionName: string, place: string): Growing {
  const name = functionName === '' ? '(anonymous)' : functionName;
  const key = `${name} ${place}`;
  const known = parent.children.get(key);
  if (known !== undefined) return known;
  const child: Growing = { name, place, micros: 0, children: new Map() };
  parent.children.set(key, child);
  return child;
}

function settle({ name, place, micros, children }: Growing, least: number): Flame {
  const kept = [...children.values()].filter((child) => child.micros >= least);
  const sorted = kept.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { name, place, micros, children: sorted.map((child) => settle(child, least)) };
}

/** The time spent in each function itself, wherever it was called from, largest first. Nothing is left out. */
export function ownTimes(flame: Flame): { readonly name: string; readonly place: string; readonly micros: number }[] {
  const byName = new Map<string, { readonly name: string; readonly place: string; micros: number }>();
  const visit = ({ name, place, micros, children }: Flame): void => {
    const own = micros - children.reduce((sum, child) => sum + child.micros, 0);
    const known = byName.get(`${name} ${place}`);
    if (known === undefined) byName.set(`${name} ${place}`, { name, place, micros: own });
    else known.micros += own;
    children.forEach(visit);
  };
  visit(flame);
  return [...byName.values()].sort((a, b) => b.micros - a.micros);
}
