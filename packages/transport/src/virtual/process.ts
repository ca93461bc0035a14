/** One simulated process: its own clock, which can be stopped, slowed or ended, its entropy and its sockets. */
import type { Clock, Timer } from '@proj/heartbeat';
import type { Entropy } from '../engine/engine.js';
import type { SeededRandom } from './random.js';

/** The state of a process: running, paused as by SIGSTOP, or dead as by SIGKILL. */
export type ProcessState = 'running' | 'paused' | 'dead';

/** What a process loses when it dies: its sockets. */
export interface ProcessResource {
  /** The process died: everything vanishes without a farewell. `silent`: the peers' machines learn nothing. */
  vanish(silent: boolean): void;
  /** The process resumed: messages that arrived meanwhile may be read. */
  wake(): void;
}

class ProcessTimer implements Timer {
  readonly callback: () => void;
  readonly #owner: Set<ProcessTimer>;
  base: Timer | undefined;

  constructor(owner: Set<ProcessTimer>, callback: () => void) {
    this.#owner = owner;
    this.callback = callback;
  }

  cancel(): void {
    this.#owner.delete(this);
    this.base?.cancel();
  }
}

/** The network's clock, as one process sees it. Its timers stop and end with the process. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  readonly #random: SeededRandom;
  readonly #timers = new Set<ProcessTimer>();
  readonly #overdue = new Set<ProcessTimer>();
  #state: ProcessState = 'running';
  /** Every timer fires up to this many milliseconds late, at random. */
  lateMs = 0;

  constructor(base: Clock, random: SeededRandom) {
    this.#base = base;
    this.#random = random;
  }

  /** Number of timers armed and not yet fired. */
  get armed(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#base.now();
  }

  at(deadline: number, callback: () => void): Timer {
    const timer = new ProcessTimer(this.#timers, callback);
    if (this.#state === 'dead') return timer;
    this.#timers.add(timer);
    const late = this.lateMs === 0 ? 0 : this.#random.next() * this.lateMs;
    this.#arm(timer, deadline + late);
    return timer;
  }

  /** Holds every timer that falls due from now on. */
  pause(): void {
    this.#state = 'paused';
  }

  /** Fires the timers that fell due meanwhile, each in its own turn. */
  resume(): void {
    this.#state = 'running';
    const now = this.now();
    for (const timer of this.#overdue) if (this.#timers.has(timer)) this.#arm(timer, now);
    this.#overdue.clear();
  }

  /** Ends all timers for good; later ones never fire. */
  stop(): void {
    this.#state = 'dead';
    for (const timer of this.#timers) timer.cancel();
    this.#overdue.clear();
  }

  #arm(timer: ProcessTimer, at: number): void {
    timer.base = this.#base.at(at, () => {
      if (this.#state === 'paused') this.#overdue.add(timer);
      else if (this.#timers.delete(timer)) timer.callback();
    });
  }
}

/** 2026-01-01T00:00:00Z: where the simulated wall clock starts. */
const FIRST_WALL_MICROS = 1_767_225_600_000_000;

/** The inside of a process. Users see a `VirtualTransport`. */
export class Process {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly entropy: Entropy;
  readonly random: SeededRandom;
  readonly resources = new Set<ProcessResource>();
  /** Number of sockets created, including closed ones. */
  socketsMade = 0;
  #state: ProcessState = 'running';

  constructor(name: string, base: Clock, random: SeededRandom) {
    this.name = name;
    this.random = random;
    this.clock = new ProcessClock(base, random.fork('lateness'));
    const draws = random.fork('entropy');
    this.entropy = {
      wallMicros: () => FIRST_WALL_MICROS + Math.round(base.now() * 1000),
      uuid: () => draws.uuid(),
      random: () => draws.next(),
    };
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** SIGSTOP: false if it was not running. */
  pause(): boolean {
    if (this.#state !== 'running') return false;
    this.#state = 'paused';
    this.clock.pause();
    return true;
  }

  /** SIGCONT: false if it was not paused. Whether timers or messages come first is random. */
  resume(): boolean {
    if (this.#state !== 'paused') return false;
    this.#state = 'running';
    const timersFirst = this.random.chance(0.5);
    if (timersFirst) this.clock.resume();
    for (const resource of this.resources) resource.wake();
    if (!timersFirst) this.clock.resume();
    return true;
  }

  /** SIGKILL: false if it was already dead. */
  crash(silent: boolean): boolean {
    if (this.#state === 'dead') return false;
    this.#state = 'dead';
    this.clock.stop();
    for (const resource of this.resources) resource.vanish(silent);
    this.resources.clear();
    return true;
  }
}
