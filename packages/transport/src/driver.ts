/** The drive loop: delivers events to an engine one at a time, performs its effects in order, and keeps its one timer. */
import type { Timer } from '@proj/heartbeat';
import type { Engine, TimerEvent } from './engine/engine.js';
import { Fifo } from './fifo.js';
import type { Transport } from './port.js';

/** How long a timer that has fallen due is left to the clock: a message should not pay for all that is due. Milliseconds. */
const PATIENCE_MS = 20;

/**
 * Runs one engine. Effects may cause events synchronously, such as a send without a route. They are delivered after the current step's effects,
 * in order, so an engine is never re-entered.
 *
 * An exception from the engine or from `perform` is our own bug and propagates to the caller of `dispatch`.
 */
export class Driver<Event, Effect> {
  readonly #engine: Engine<Event, Effect>;
  readonly #world: Pick<Transport, 'clock' | 'probe'>;
  readonly #perform: (effect: Effect) => void;
  readonly #waiting = new Fifo<Event>();
  #running = false;
  #stopped = false;
  #timer: Timer | undefined;
  #armedFor = Infinity;

  constructor(
    engine: Engine<Event, Effect>,
    world: Pick<Transport, 'clock' | 'probe'>,
    perform: (effect: Effect) => void,
  ) {
    this.#engine = engine;
    this.#world = world;
    this.#perform = perform;
  }

  /** Delivers an event, then everything it caused, and what has fallen due unless its timer is about to fire. No effect once stopped. */
  dispatch(event: Event): void {
    if (this.#stopped) return;
    if (this.#running) {
      this.#waiting.push(event);
      return;
    }
    this.#running = true;
    try {
      const now = this.#world.clock.now();
      this.#step(event, now);
      this.#settle(now);
    } finally {
      this.#running = false;
    }
  }

  /** Cancels the timer and discards later events, pending effects and deadlines. Idempotent. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #step(event: Event | TimerEvent, now: number): void {
    const effects = this.#engine.step(event, now);
    this.#world.probe?.(this.#engine);
    for (const effect of effects) {
      if (this.#stopped) return;
      this.#perform(effect);
    }
  }

  /** Delivers what the last step caused, and a timer event if its deadline has passed, until nothing is due; then arms the timer. */
  #settle(now: number): void {
    while (!this.#stopped) {
      const event = this.#waiting.shift();
      if (event !== undefined) this.#step(event, now);
      else {
        const { deadline } = this.#engine;
        const isAboutToFire = this.#armedFor <= now && now - deadline < PATIENCE_MS;
        if (deadline > now || isAboutToFire) {
          this.#arm(deadline);
          return;
        }
        this.#deliverTimer(deadline, now);
      }
    }
  }

  #deliverTimer(due: number, now: number): void {
    this.#step({ kind: 'timer', lateMs: now - due }, now);
    if (this.#engine.deadline <= due) throw new Error(`engine did not move its deadline past ${due.toString()}`);
  }

  /** A later deadline needs no new timer: the current one wakes us early and is armed again. */
  #arm(deadline: number): void {
    if (deadline >= this.#armedFor) return;
    this.#timer?.cancel();
    this.#armedFor = deadline;
    this.#timer = this.#world.clock.at(deadline, this.#wake);
  }

  readonly #wake = (): void => {
    this.#timer = undefined;
    this.#armedFor = Infinity;
    if (this.#stopped) return;
    this.#running = true;
    try {
      this.#settle(this.#world.clock.now());
    } finally {
      this.#running = false;
    }
  };
}
