/** Looks for the next message instead of sleeping until it comes, where that pays: docs/adr/0014-a-hub-looks-before-it-sleeps.md. */

/** What a {@link Poller} needs of the event loop. */
export interface Loop {
  /** In milliseconds, exact to microseconds. */
  now(): number;
  /** Calls back after the loop has looked for messages without waiting for any. */
  next(callback: () => void): void;
}

/** Turns with more messages are busy enough: looking at once after them would only make batches smaller. */
const FEW = 2;
/** So many gaps from one message to the next are compared, with looking and without. */
const TRIAL = 64;
/** Gaps must become shorter by a tenth. */
const GAIN = 0.9;
/** For so many gaps it is not looked, where that does not pay. */
const TERM = 1024;
/** For at most so many it is, after one trial that showed so upon another. */
const TERM_MAX = 16 * TERM;
/** Gaps longer than so many windows are not compared: what makes them long is not the waking. */
const FAR = 5;
/** Where of those without looking more are, it is not even tried. */
const FAR_MAX = TRIAL / 4;

type Phase = 'without' | 'with' | 'decided';

/**
 * Waking a core takes several times what a message does, unless others keep the cores awake; then who looks is in their way. So it is
 * tried again and again which makes the gaps between messages shorter; the longer looking has paid, the more rarely, since each trial
 * lets the cores fall asleep. Nothing is armed while no messages come, or many at a time.
 */
export class Poller {
  readonly #windowMs: number;
  readonly #loop: Loop;
  #serves = false;
  #phase: Phase = 'without';
  #looks = false;
  /** When the last turn ended; `Infinity` during one, and after one with many messages. */
  #idleSince = Infinity;
  #armed = false;
  /** Gaps until this phase is over. */
  #left = TRIAL;
  /** How many gaps of this phase were too long, and how long the others together. */
  #far = 0;
  #gapsMs = 0;
  /** As long was one without looking on average. */
  #withoutMs = 0;
  /** So many gaps the last decision stood for. */
  #term = TERM;

  /** Looks for at most `windowMs` after a message; 0 for never. */
  constructor(windowMs: number, loop: Loop) {
    this.#windowMs = windowMs;
    this.#loop = loop;
  }

  /** Others connect to us: only then it is looked at all, for of all who wait for each other one may. */
  serve(): void {
    this.#serves = this.#windowMs > 0;
  }

  /** The first message of a turn has come. */
  onTurn(): void {
    if (this.#idleSince === Infinity) return;
    const gap = this.#loop.now() - this.#idleSince;
    this.#idleSince = Infinity;
    if (gap > FAR * this.#windowMs) this.#far++;
    else this.#gapsMs += gap;
    if (--this.#left === 0) this.#decide();
  }

  /** The turn is over: so many messages came in it, and what they brought about has been written. */
  onTurnEnd(count: number): void {
    if (!this.#serves || count > FEW) return;
    this.#idleSince = this.#loop.now();
    if (this.#looks) this.#arm();
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

  #settle(looks: boolean): void {
    this.#term = looks ? Math.min(2 * this.#term, TERM_MAX) : TERM;
    this.#begin('decided', looks, this.#term);
  }

  #begin(phase: Phase, looks: boolean, gaps: number): void {
    this.#phase = phase;
    this.#looks = looks;
    this.#left = gaps;
    this.#far = this.#gapsMs = 0;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#loop.next(this.#look);
  }

  readonly #look = (): void => {
    this.#armed = false;
    // During a turn nothing is to be looked for; its end arms again.
    if (!this.#looks || this.#idleSince === Infinity) return;
    if (this.#loop.now() - this.#idleSince < this.#windowMs) this.#arm();
  };
}
