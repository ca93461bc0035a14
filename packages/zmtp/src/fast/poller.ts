/**
 * Replaces sleeping between two messages: the process polls briefly for the next one, because waking a core takes longer than handling a
 * message. Saves: `chain`, "chain mdp-zmtp over mdp-zmtp that does not look, 1 in flight" (docs/adr/0014-a-hub-looks-before-it-sleeps.md).
 * Without it, the process sleeps until the next message arrives.
 */

/** What a {@link Poller} needs from the event loop. */
export interface Loop {
  /** In milliseconds, with microsecond precision. */
  now(): number;
  /** Calls back after the loop has checked for messages without waiting. */
  next(callback: () => void): void;
}

/** No polling after a turn with more messages than this: it would only make batches smaller. */
const FEW = 2;
/** Gaps between messages that a trial compares, with polling and without. */
const TRIAL = 64;
/** Polling must shorten gaps by a tenth. */
const GAIN = 0.9;
/** Gaps to skip after a trial shows that polling does not help. */
const TERM = 1024;
/** Most gaps to poll for after trials that show that polling helps. */
const TERM_MAX = 16 * TERM;
/** Gaps longer than this many windows are not compared: waking is not what makes them long. */
const FAR = 5;
/** If more gaps without polling are that long, polling is not tried. */
const FAR_MAX = TRIAL / 4;

type Phase = 'without' | 'with' | 'decided';

/**
 * Waking a core takes longer than handling a message, unless other programs keep the cores awake; then polling is in their way. So trials
 * compare the gaps between messages with and without polling. The longer polling has helped, the rarer the trials, since each lets the cores
 * fall asleep. Nothing is armed while no messages arrive, or many at once.
 */
export class Poller {
  readonly #windowMs: number;
  readonly #loop: Loop;
  #serves = false;
  #phase: Phase = 'without';
  #polls = false;
  /** When the last turn ended; `Infinity` during a turn, and after one with many messages. */
  #idleSince = Infinity;
  #armed = false;
  /** Gaps left of this phase. */
  #left = TRIAL;
  /** Gaps of this phase that were too long, and the sum of the others. */
  #far = 0;
  #gapsMs = 0;
  /** The mean gap without polling. */
  #withoutMs = 0;
  /** Gaps that the last decision covers. */
  #term = TERM;

  /** Polls for at most `windowMs` after a message; 0 for never. */
  constructor(windowMs: number, loop: Loop) {
    this.#windowMs = windowMs;
    this.#loop = loop;
  }

  /** Enables polling. Only the side that binds polls; if both did, they would compete for the cores. */
  serve(): void {
    this.#serves = this.#windowMs > 0;
  }

  /** The first message of a turn has arrived. */
  onTurn(): void {
    if (this.#idleSince === Infinity) return;
    const gap = this.#loop.now() - this.#idleSince;
    this.#idleSince = Infinity;
    if (gap > FAR * this.#windowMs) this.#far++;
    else this.#gapsMs += gap;
    if (--this.#left === 0) this.#decide();
  }

  /** The turn is over: it handled `count` messages, and its output is written. */
  onTurnEnd(count: number): void {
    if (!this.#serves || count > FEW) return;
    this.#idleSince = this.#loop.now();
    if (this.#polls) this.#arm();
  }

  #decide(): void {
    const meanMs = this.#gapsMs / (TRIAL - this.#far);
    if (this.#phase === 'decided') this.#begin('without', false, TRIAL);
    else if (this.#phase === 'with') this.#settle(meanMs < GAIN * this.#withoutMs);
    else if (this.#far > FAR_MAX) this.#settle(false);
    else {
      this.#withoutMs = meanMs;
      this.#begin('with', true, TRIAL);
    }
  }

  #settle(polls: boolean): void {
    this.#term = polls ? Math.min(2 * this.#term, TERM_MAX) : TERM;
    this.#begin('decided', polls, this.#term);
  }

  #begin(phase: Phase, polls: boolean, gaps: number): void {
    this.#phase = phase;
    this.#polls = polls;
    this.#left = gaps;
    this.#far = this.#gapsMs = 0;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#loop.next(this.#poll);
  }

  readonly #poll = (): void => {
    this.#armed = false;
    // The end of the turn arms it again.
    if (!this.#polls || this.#idleSince === Infinity) return;
    if (this.#loop.now() - this.#idleSince < this.#windowMs) this.#arm();
  };
}
