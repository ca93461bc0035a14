/** The log of notes, filtered, and who is in it most: the answer to "who sends garbage". */
import type { NoteRow } from '@proj/observe/model';

/** What the log is filtered by; all that is given must hold. */
export interface NoteFilter {
  readonly protocol?: string;
  readonly reason?: string;
  readonly peer?: string;
}

/** How often one thing stands in the log. */
export interface Tally {
  readonly name: string;
  readonly count: number;
}

/** What a note is counted under: its reason, or its code if it has none. */
export function reasonOf({ reason, code }: NoteRow): string {
  return reason ?? code;
}

/** The notes of a filter, latest first. */
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

/** Names by how often they come, the most frequent first; `undefined` is not counted. */
export function tally(names: Iterable<string | undefined>): readonly Tally[] {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, number]) => ({ name, count: number }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
