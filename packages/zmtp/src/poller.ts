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
/** For so many gaps a decision stands. */
const TERM = 1024;
/** In a trial no more gaps than this may be longer than the window: looking for those is in vain. */
const LATE_MAX = TRIAL / 4;
/** Gaps must become shorter by a tenth. */
const GAIN = 0.9;

type Phase = 'without' | 'with' | 'decided';

/**
 * Waking a core takes several times what a message does, unless others keep the cores awake; then who looks is in their way. So it is
 * tried again and again which makes the gaps between messages shorter. Nothing is armed while no messages come, or many at a time.
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
  /** Of this phase. */
  #left = TRIAL;
  #gapsMs = 0;
  #late = 0;
  /** Of the trial without looking. */
  #withoutMs = 0;

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
    if (gap > this.#windowMs) this.#late++;
    this.#gapsMs += Math.min(gap, this.#windowMs);
    if (--this.#left === 0) this.#decide();
  }

  /** The turn is over: so many messages came in it, and what they brought about has been written. */
  onTurnEnd(count: number): void {
    if (!this.#serves || count > FEW) return;
    this.#idleSince = this.#loop.now();
    if (this.#looks) this.#arm();
  }

  #decide(): void {
    const pays = this.#late <= LATE_MAX;
    if (this.#phase === 'decided') this.#begin('without', false);
    else if (this.#phase === 'with') this.#begin('decided', pays && this.#gapsMs < GAIN * this.#withoutMs);
    else {
      this.#withoutMs = this.#gapsMs;
      this.#begin(pays ? 'with' : 'decided', pays);
    }
  }

  #begin(phase: Phase, looks: boolean): void {
    this.#phase = phase;
    this.#looks = looks;
    this.#left = phase === 'decided' ? TERM : TRIAL;
    this.#gapsMs = this.#late = 0;
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
