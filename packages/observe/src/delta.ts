/** The difference between two models. Pure. Compares rows as data, so an unchanged row is not sent again. */
import type { Delta, Model } from './model.js';

const TABLES = ['servers', 'services', 'workers', 'clients', 'deadLetters', 'schedules', 'faults'] as const;

/** The changes that turn `before` into `after`, with only the new notes and the new point of history. */
export function deltaOf(before: Model, after: Model): Delta {
  const lastNote = before.notes.at(-1)?.id ?? 0;
  const notes = after.notes.filter(({ id }) => id > lastNote);
  const point = after.history.at(-1);
  if (point === undefined) throw new Error('a model after its first second has a history');
  const changes: Record<string, unknown> = {};
  if (!same(before.process, after.process)) changes['process'] = after.process;
  for (const table of TABLES) {
    const changed = changesOf(before[table] ?? {}, after[table] ?? {});
    if (changed !== undefined) changes[table] = changed;
  }
  if (notes.length > 0) changes['notes'] = notes;
  return { ...changes, point };
}

type Rows = Readonly<Record<string, unknown>>;

function changesOf(before: Rows, after: Rows): Rows | undefined {
  const changes: [string, unknown][] = [];
  for (const key in after) if (!same(before[key], after[key])) changes.push([key, after[key]]);
  for (const key in before) if (!Object.hasOwn(after, key)) changes.push([key, null]);
  // `fromEntries`, so that a peer named __proto__ is an ordinary row.
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Whether two values of plain data are equal. */
function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && same((one as Rows)[key], (other as Rows)[key]));
}
