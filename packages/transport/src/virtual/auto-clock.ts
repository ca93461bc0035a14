/** A clock that advances by itself, as fast as the machine can process events. */
import { ManualClock } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';
import { macrotask } from './turn.js';

/**
 * Jumps from timer to timer, lets promises run in between, and stops while none is armed. For code that cannot advance a clock, such as a
 * compliance suite. Code that waits for real events sees hours pass.
 */
export class AutoClock implements Clock {
  readonly #clock = new ManualClock();
  #running = false;

  /** Number of armed timers. */
  get armed(): number {
    return this.#clock.armed;
  }

  now(): number {
    return this.#clock.now();
  }

  at(deadline: number, callback: () => void): Timer {
    const timer = this.#clock.at(deadline, callback);
    if (!this.#running) void this.#run();
    return timer;
  }

  async #run(): Promise<void> {
    this.#running = true;
    await macrotask();
    while (this.#clock.fireNext()) await macrotask();
    this.#running = false;
  }
}
