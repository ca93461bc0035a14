/**
 * What goes wrong with the disk: full for a while, or slow. Drawn from the seed, separately from the faults of processes and
 * links.
 */
import type { Timer } from '@proj/heartbeat';
import type { SeededRandom } from '@proj/transport/virtual';
import type { Simulation } from './simulation.js';

/** Longest trouble. Virtual milliseconds. */
const LONGEST_MS = 2000;
/** Longest write of a slow disk. Virtual milliseconds. */
const SLOW_MS = 120;

/** A disk that can be in trouble. */
export interface Troubled {
  /** The error code of all writes. */
  failing: string | undefined;
  /** Longest time until a write is flushed. Virtual milliseconds. */
  slowestMs: number;
}

/** Starts at once, ends with `heal`. */
export class DiskTroubles {
  readonly #simulation: Simulation;
  readonly #name: string;
  readonly #disk: Troubled;
  readonly #meanGapMs: number;
  readonly #random: SeededRandom;
  readonly #usualMs: number;
  #next: Timer | undefined;

  /** `name`: of the disk, in the trace; each disk has its own troubles. */
  constructor(simulation: Simulation, disk: Troubled, meanGapMs: number, name = 'disk') {
    this.#simulation = simulation;
    this.#name = name;
    this.#disk = disk;
    this.#meanGapMs = meanGapMs;
    this.#random = simulation.random.fork(`${name} troubles`);
    this.#usualMs = disk.slowestMs;
    this.#after(this.#gap(), this.#trouble);
  }

  /** Nothing more goes wrong. */
  heal(): void {
    this.#next?.cancel();
    this.#disk.failing = undefined;
    this.#disk.slowestMs = this.#usualMs;
    this.#simulation.note(`${this.#name}: healthy`);
  }

  readonly #trouble = (): void => {
    if (this.#random.chance(0.6)) this.#disk.failing = this.#random.pick(['ENOSPC', 'EIO']);
    else this.#disk.slowestMs = SLOW_MS;
    this.#simulation.note(`${this.#name}: ${this.#disk.failing ?? 'slow'}`);
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
