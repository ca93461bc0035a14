/** NFP broker: NORFAB's inventory, which `sid.service.broker` serves to workers (rule 20). Loaded elsewhere. */

/** Data for the workers whose names match a glob. */
export interface NfpInventoryEntry {
  /** As in shells: `*` any text, `?` any character, `[seq]` one of these, `[!seq]` none of these. Case-sensitive. */
  readonly glob: string;
  /** Where it comes from, for humans: a file as the inventory names it, or `(inline)`. */
  readonly source: string;
  /** Plain JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A loaded inventory. */
export interface NfpInventory {
  /** The part of section `broker` that may be shown: never keys. */
  readonly broker: Readonly<Record<string, unknown>>;
  readonly topology: unknown;
  /** In file order; later entries override earlier ones. */
  readonly workers: readonly NfpInventoryEntry[];
}

/** All entries that match the worker's name, merged: objects recursively, lists united, otherwise the later value. `undefined` if none matches. */
export function inventoryOf({ workers }: NfpInventory, name: string): unknown {
  let merged: unknown;
  for (const { glob, data } of workers)
    if (fits(name, glob)) merged = merged === undefined ? data : merge(merged, data);
  return merged;
}

/** The outline of an inventory: globs and sources, no contents. */
export function outlineOf({ broker, topology, workers }: NfpInventory): unknown {
  const sources = newObject();
  for (const { glob, source } of workers) sources[glob] = [...((sources[glob] as string[] | undefined) ?? []), source];
  return { broker, topology, workers: sources };
}

/** Whether the whole name matches the glob. Costs at most the product of both lengths. */
export function fits(name: string, glob: string): boolean {
  let [at, inGlob] = [0, 0];
  // Where to resume if the text after the last `*` did not match: one character further.
  let [star, starAt] = [-1, 0];
  while (at < name.length) {
    const next = glob[inGlob] === '*' ? inGlob : fitsOne(name[at] ?? '', glob, inGlob);
    if (glob[inGlob] === '*') {
      [star, starAt] = [inGlob, at];
      inGlob++;
    } else if (next > 0) {
      inGlob = next;
      at++;
    } else if (star >= 0) {
      at = ++starAt;
      inGlob = star + 1;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

/** The position after the glob element that matches this character; 0 if it does not match. A bracket that never closes is a plain character. */
function fitsOne(character: string, glob: string, at: number): number {
  if (glob[at] === '?') return at + 1;
  if (glob[at] === '[') {
    const isNegated = glob[at + 1] === '!';
    const first = at + (isNegated ? 2 : 1);
    // A leading `]` belongs to the set.
    const end = glob.indexOf(']', first + 1);
    if (end >= 0) return isOneOf(character, glob.slice(first, end)) === isNegated ? 0 : end + 1;
  }
  return glob[at] === character ? at + 1 : 0;
}

function isOneOf(character: string, set: string): boolean {
  for (let at = 0; at < set.length; at++) {
    const [low = '', dash, high] = set.slice(at, at + 3);
    if (dash === '-' && high !== undefined) {
      if (low <= character && character <= high) return true;
      at += 2;
    } else if (low === character) {
      return true;
    }
  }
  return false;
}

function merge(old: unknown, added: unknown): unknown {
  if (Array.isArray(old) && Array.isArray(added)) return unite([...(old as unknown[]), ...(added as unknown[])]);
  if (!isObject(old) || !isObject(added)) return added;
  const merged = newObject();
  for (const [key, value] of Object.entries(old)) merged[key] = value;
  for (const [key, value] of Object.entries(added))
    merged[key] = Object.hasOwn(old, key) ? merge(old[key], value) : value;
  return merged;
}

/** Removes duplicates; the first occurrence stays. */
function unite(values: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const text = JSON.stringify(value);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
}

/** No prototype: `__proto__` is an ordinary key. */
function newObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
