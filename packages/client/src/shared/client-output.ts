/** The effects of a client's session during one step, in any protocol, and its totals. */
import { StepOutput } from '@proj/transport/engine';

/** Counts by reason; a reason appears when it is first counted. */
export type Tally<Reason extends string> = Partial<Record<Reason, number>>;

/** Reports notes and counts drops. */
export class ClientOutput<Effect, Note> extends StepOutput<Effect | { readonly kind: 'note'; readonly note: Note }> {
  override readonly counters: { notesWithheld: number; readonly dropped: Tally<string> } = {
    notesWithheld: 0,
    dropped: {},
  };

  /** A copy of the totals. */
  get totals(): Omit<this['counters'], 'notesWithheld'> {
    const { notesWithheld: _, ...totals } = this.counters;
    const copies = Object.entries<unknown>(totals).map(([name, value]) => [
      name,
      isTally(value) ? { ...value } : value,
    ]);
    return Object.fromEntries(copies) as Omit<this['counters'], 'notesWithheld'>;
  }

  /** Reports this every time. */
  report(note: Note): void {
    this.effects.push({ kind: 'note', note });
  }

  /** Counts a dropped message, and reports it once a minute for each reason. */
  protected dropAs(reason: keyof this['counters']['dropped'] & string, note: Note): void {
    this.count(reason);
    this.note(reason, { kind: 'note', note });
  }

  /** Counts a dropped message. */
  protected count(reason: keyof this['counters']['dropped'] & string): void {
    const { dropped } = this.counters;
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  }
}

function isTally(value: unknown): value is Tally<string> {
  return typeof value === 'object';
}
