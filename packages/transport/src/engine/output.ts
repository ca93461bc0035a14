/** What every engine leaves behind after a step, the same for all protocols: effects, running totals, and notes that come at most once a minute. */
import { oncePerMinute } from '@proj/heartbeat';

/**
 * Collects the effects of the step under way. An engine's own `Output` extends it and adds only the protocol's sentences, such as
 * `refuse(peer)`.
 */
export class StepOutput<Effect, Counters extends { notesWithheld: number } = { notesWithheld: number }> {
  /** Running totals since construction. */
  readonly counters: Counters;
  /** Time of the step under way, in monotonic milliseconds. */
  now = 0;
  /** What the step wants done, in order. */
  effects: Effect[] = [];
  readonly #notes = oncePerMinute();

  /** An engine that counts nothing else leaves the counters out. */
  constructor(...[counters]: { notesWithheld: number } extends Counters ? [Counters?] : [Counters]) {
    this.counters = counters ?? ({ notesWithheld: 0 } as Counters);
  }

  /** Begins a step, and returns its effects. The previous step's effects belong to their taker. */
  begin(now: number): Effect[] {
    this.now = now;
    return (this.effects = []);
  }

  /** Reports `effect`, at most once a minute for each `key`; otherwise counts it in `notesWithheld`. */
  note(key: string, effect: Effect): void {
    if (this.#notes.allow(key, this.now)) this.effects.push(effect);
    else this.counters.notesWithheld++;
  }
}
