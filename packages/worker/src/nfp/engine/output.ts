/** NFP worker: the effects of the step under way. */
import type { NfpWorkerDropReason, NfpWorkerEffect, NfpWorkerNote } from './events.js';

const NOTHING: readonly NfpWorkerEffect[] = [];

/** Where every part of a session puts its effects, in order. */
export class Output {
  #effects: NfpWorkerEffect[] = [];

  /** True between steps. */
  get isEmpty(): boolean {
    return this.#effects.length === 0;
  }

  /** Something for the host to do. */
  push(effect: NfpWorkerEffect): void {
    this.#effects.push(effect);
  }

  /** Something for events, the log and the totals. */
  note(note: NfpWorkerNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** A message came to nothing. */
  drop(reason: NfpWorkerDropReason): void {
    this.note({ code: 'message-dropped', reason });
  }

  /** The effects so far, which are the taker's. */
  take(): readonly NfpWorkerEffect[] {
    if (this.isEmpty) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
