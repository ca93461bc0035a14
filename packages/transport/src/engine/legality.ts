/** The type of the legality table that opens every engine. `docs/protocols/*.md` show each table as a diagram, checked by a test. Types only. */

/**
 * What an engine does with an event in a state: its verdict, then the possible next states. With none, the state stays; with several, the
 * engine's data decides.
 */
export type Ruling<State extends string, Verdict extends string> = readonly [verdict: Verdict, ...next: State[]];

/** What an engine does with each event in each state. Total: illegal events have a verdict too. */
export type Legality<State extends string, Event extends string, Verdict extends string> = Readonly<
  Record<State, Readonly<Record<Event, Ruling<State, Verdict>>>>
>;
