/** The shape of the legality table that opens every engine. `docs/protocols/*.md` show it as a diagram, which a test compares. No code. */

/**
 * What an engine does with an event in one state: its verdict, then the states that may follow. With none, the state stays. With several,
 * the engine's data decides which.
 */
export type Ruling<State extends string, Verdict extends string> = readonly [verdict: Verdict, ...next: State[]];

/** What an engine does with each event in each of its states. Total: an event that is illegal has a verdict, too. */
export type Legality<State extends string, Event extends string, Verdict extends string> = Readonly<
  Record<State, Readonly<Record<Event, Ruling<State, Verdict>>>>
>;
