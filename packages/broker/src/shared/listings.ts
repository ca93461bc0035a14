/** Long answers about a broker's state: cut if they would keep others waiting, and cached for a moment. Knows no protocol. */

/** Lines of one listing. Making this many takes a few milliseconds, whatever names peers choose. */
export const LISTED_MAX = 5000;

/**
 * An answer with this many lines or more is cached, for a millisecond per line up to a limit: repeated questions meanwhile get the same bytes,
 * so that what a question costs does not grow with how often it is asked.
 */
const KEPT_FROM_LINES = 50;
const KEPT_MAX_MS = 500;
/** Questions whose answers are cached at a time, such as one for each service. */
const KEPT_MAX = 8;

/** A listing that ends where it would be too long. */
export interface Listing<Line> {
  readonly lines: Line[];
  /** How many more lines follow. */
  readonly more: number;
}

/** The lines of the matching items, without the first `skip`. */
export function list<Item, Line>(
  items: Iterable<Item>,
  lineOf: (item: Item) => Line,
  matches: (item: Item) => boolean = () => true,
  skip = 0,
): Listing<Line> {
  const lines: Line[] = [];
  let matching = 0;
  for (const item of items) {
    if (!matches(item)) continue;
    if (matching >= skip && lines.length < LISTED_MAX) lines.push(lineOf(item));
    matching++;
  }
  return { lines, more: Math.max(0, matching - skip - lines.length) };
}

interface Kept<Answer> {
  readonly answer: Answer;
  readonly until: number;
}

/** Caches the long answers of one broker for up to {@link KEPT_MAX_MS}. Short ones are made anew each time. */
export class Listings<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>();

  /** The answer to a question; `lines` is the number of items that go into it. */
  answer(question: string, lines: number, now: number, make: () => Answer): Answer {
    const kept = this.#kept.get(question);
    if (kept !== undefined && now < kept.until) return kept.answer;
    this.#kept.delete(question);
    const answer = make();
    if (lines >= KEPT_FROM_LINES) this.#keep(question, { answer, until: now + Math.min(lines, KEPT_MAX_MS) });
    return answer;
  }

  #keep(question: string, kept: Kept<Answer>): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= KEPT_MAX) this.#kept.delete(oldest);
    this.#kept.set(question, kept);
  }
}
