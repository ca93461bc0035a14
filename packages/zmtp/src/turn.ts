/** What is done once per turn of the event loop, after all that came in during this turn: one write per peer instead of many. */

/** Something that has work for the end of a turn. */
export interface Turning {
  onTurn(now: number): void;
}

/** Collects who has work, and lets all of them do it together. The only place of the package that reaches for the event loop. */
export class Turns {
  readonly #now: () => number;
  #waiting: Turning[] = [];

  /** `now` is what {@link Turning.onTurn} is told, read once per turn. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `onTurn` at the end of this turn. Not to be asked twice for the same turn. */
  later(turning: Turning): void {
    if (this.#waiting.push(turning) === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    const now = this.#now();
    for (const turning of waiting) turning.onTurn(now);
  };
}
