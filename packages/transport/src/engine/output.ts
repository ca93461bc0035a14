/** The output of a step, the same for all protocols: effects, running totals, and notes limited to one a minute. */
import { oncePerMinute } from '@proj/heartbeat';

/**
 * Collects the effects of the current step. An engine's own `Output` extends it and adds only the protocol's counters and sentences, such as
 * `refuse(peer)`.
 */
export class StepOutput<Effect> {
  /** Running totals since construction. */
  readonly counters: { notesWithheld: number } = { notesWithheld: 0 };
  /** Time of the current step, in monotonic milliseconds. */
  now = 0;
  /** The effects of the step, in order. */
  effects: Effect[] = [];
  readonly #notes = oncePerMinute();

  /** Begins a step and returns its effects. The caller of the previous step owns the earlier ones. */
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
