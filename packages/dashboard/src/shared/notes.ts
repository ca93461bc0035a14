/** The filtered log of notes, and its most frequent names: the answer to "who sends garbage". */
import type { NoteRow } from '@proj/observe/model';

/** The filter of the log; all given conditions must hold. */
export interface NoteFilter {
  readonly protocol?: string;
  readonly reason?: string;
  readonly peer?: string;
}

/** How often a name occurs in the log. */
export interface Tally {
  readonly name: string;
  readonly count: number;
}

/** A note's name in the counts: its reason, or its code if it has none. */
export function reasonOf({ reason, code }: NoteRow): string {
  return reason ?? code;
}

/** The notes that pass a filter, latest first. */
export function filterNotes(notes: readonly NoteRow[], { protocol, reason, peer }: NoteFilter): readonly NoteRow[] {
  return notes
    .filter(
      (note) =>
        (protocol === undefined || note.protocol === protocol) &&
        (reason === undefined || reasonOf(note) === reason) &&
        (peer === undefined || note.peer === peer),
    )
    .reverse();
}

/** Names by frequency, the most frequent first; `undefined` is not counted. */
export function tally(names: Iterable<string | undefined>): readonly Tally[] {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, number]) => ({ name, count: number }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
