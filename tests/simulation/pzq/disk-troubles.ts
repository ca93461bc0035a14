/** What goes wrong with the disk: full for a while, or slow. Drawn from the seed, beside the faults of processes and lines. */
import type { Timer } from '@proj/heartbeat';
import type { SeededRandom } from '@proj/transport/virtual';
import type { Simulation } from '../kit/simulation.js';
import type { Disk } from './disk.js';

/** Longest trouble. Virtual milliseconds. */
const LONGEST_MS = 2000;
/** Longest write of a slow disk. Virtual milliseconds. */
const SLOW_MS = 120;

/** Begins at once, ends with `heal`. */
export class DiskTroubles {
  readonly #simulation: Simulation;
  readonly #disk: Disk;
  readonly #meanGapMs: number;
  readonly #random: SeededRandom;
  readonly #usualMs: number;
  #next: Timer | undefined;

  constructor(simulation: Simulation, disk: Disk, meanGapMs: number) {
    this.#simulation = simulation;
    this.#disk = disk;
    this.#meanGapMs = meanGapMs;
    this.#random = simulation.random.fork('disk troubles');
    this.#usualMs = disk.slowestMs;
    this.#after(this.#gap(), this.#trouble);
  }

  /** Nothing more goes wrong. */
  heal(): void {
    this.#next?.cancel();
    this.#disk.failing = undefined;
    this.#disk.slowestMs = this.#usualMs;
    this.#simulation.note('disk: healthy');
  }

  readonly #trouble = (): void => {
    if (this.#random.chance(0.6)) this.#disk.failing = this.#random.pick(['ENOSPC', 'EIO']);
    else this.#disk.slowestMs = SLOW_MS;
    this.#simulation.note(`disk: ${this.#disk.failing ?? 'slow'}`);
    this.#after(this.#random.next() ** 2 * LONGEST_MS, () => {
      this.heal();
      this.#after(this.#gap(), this.#trouble);
    });
  };

  #gap(): number {
    return -Math.log(1 - this.#random.next()) * this.#meanGapMs;
  }

  #after(ms: number, what: () => void): void {
    const { clock } = this.#simulation;
    this.#next = clock.at(clock.now() + ms, what);
  }
}
