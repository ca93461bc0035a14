/**
 * Checker of scheduler rules 2, 4, 5 and 8 of docs/protocols/emqp.md: each run of a regular job follows its own write, in the same life of
 * the scheduler; no interval has two runs; an unscheduled job does not run, and never again once its removal is on disk; a crash costs at
 * most one interval.
 */
import type { SchedulerChecker, SchedulerSight } from './sight.js';

/** Slow disks, late timers and slow starts, all at once. Virtual milliseconds. */
const LATE_MS = 900;
const LATE_IN_CALM_MS = 30;
const ROUNDING_MS = 1;

interface Tick {
  /** Its interval; the shortest and the longest possible one if it is unknown whether a SCHEDULE was kept. */
  shortestMs: number;
  longestMs: number;
  /** It was scheduled, as far as this life of the scheduler was told or has read. */
  active: boolean;
  onDisk: boolean;
  /** Writes that no run has followed yet. */
  writes: number;
  /** The last two runs, newest first. */
  ranAt: number[];
  /** The next run may be that of the SCHEDULE itself, which comes once that is on disk, or one that was written before a pause. */
  isNew: boolean;
  /** From when the next run is expected, and what had gone wrong until then. */
  waitsSince: number;
  offlineMs: number;
  restarts: number;
}

/** Follows what the scheduler receives, writes and sends. */
export class SchedulesChecker implements SchedulerChecker {
  readonly #clock: { now(): number };
  readonly #isDiskSound: boolean;
  readonly #ticks = new Map<string, Tick>();
  #offlineSince: number | undefined = 0;
  #offlineMs = 0;
  #restarts = 0;
  #lateMs = LATE_MS;
  /** All runs so far. */
  runs = 0;

  /** `isDiskSound`: writes do not fail; with a failing disk jobs run without it, and nothing is promised. */
  constructor(clock: { now(): number }, isDiskSound: boolean) {
    this.#clock = clock;
    this.#isDiskSound = isDiskSound;
  }

  /** From now on nothing fails. */
  begin(): void {
    this.#lateMs = LATE_IN_CALM_MS;
    for (const tick of this.#ticks.values()) this.#waitAnew(tick, this.#clock.now());
  }

  /** Call it while all is still well. Throws for a job that should have run but did not, or that is still on disk but should not be. */
  requireRuns(): void {
    for (const [name, tick] of this.#ticks) {
      if (!tick.onDisk) continue;
      if (!tick.active) throw new Error(`${name} was unscheduled and is still on the disk`);
      this.#checkGap(name, tick);
    }
  }

  onRun(sight: SchedulerSight): void {
    const now = this.#clock.now();
    switch (sight.kind) {
      case 'told':
        this.#onTold(sight, now);
        break;
      case 'written':
        this.#tick(sight.tick).writes++;
        this.#tick(sight.tick).onDisk = true;
        break;
      case 'erased':
        this.#tick(sight.tick).onDisk = false;
        break;
      case 'ran':
        this.#onRan(sight.tick, this.#tick(sight.tick), now);
        break;
      case 'online':
        this.#offlineMs += now - (this.#offlineSince ?? now);
        this.#offlineSince = undefined;
        break;
      case 'offline':
        this.#offlineSince ??= now;
        break;
      case 'woken':
        for (const tick of this.#ticks.values()) tick.isNew = true;
        break;
      case 'restarted':
        this.#onRestart(now);
        break;
    }
  }

  #onTold({ tick: name, word, everyMs }: SchedulerSight & { kind: 'told' }, now: number): void {
    const tick = this.#tick(name);
    tick.active = word === 'schedule';
    if (word === 'unschedule') return;
    const isOpen = !this.#isDiskSound && tick.onDisk;
    tick.shortestMs = isOpen ? Math.min(tick.shortestMs, everyMs) : everyMs;
    tick.longestMs = isOpen ? Math.max(tick.longestMs, everyMs) : everyMs;
    tick.ranAt = [];
    tick.isNew = true;
    this.#waitAnew(tick, now);
  }

  #onRan(name: string, tick: Tick, now: number): void {
    this.runs++;
    if (!tick.active) throw new Error(`${name} ran and is not scheduled`);
    if (this.#isDiskSound && tick.writes === 0) throw new Error(`${name} ran before that was on the disk`);
    tick.writes--;
    const [, last] = tick.ranAt;
    // One run may have waited for a broker, so only three prove a fault.
    if (last !== undefined && now - last < tick.shortestMs - ROUNDING_MS)
      throw new Error(`${name} ran three times in ${(now - last).toFixed(0)} ms`);
    this.#checkGap(name, tick);
    if (!tick.isNew) tick.ranAt = [now, ...tick.ranAt.slice(0, 1)];
    tick.isNew = false;
    this.#waitAnew(tick, now);
  }

  #checkGap(name: string, tick: Tick): void {
    const now = this.#clock.now();
    const gapMs = now - tick.waitsSince - (this.#offlineAt(now) - tick.offlineMs);
    const mostMs = tick.longestMs * (1 + this.#restarts - tick.restarts) + this.#lateMs;
    if (gapMs > mostMs)
      throw new Error(`${name} has not run for ${gapMs.toFixed(0)} ms, allowed are ${mostMs.toFixed(0)}`);
  }

  #waitAnew(tick: Tick, now: number): void {
    tick.waitsSince = now;
    tick.offlineMs = this.#offlineAt(now);
    tick.restarts = this.#restarts;
  }

  /** What was not on disk is forgotten, and so is a run that was not sent. */
  #onRestart(now: number): void {
    this.#restarts++;
    this.#offlineSince ??= now;
    for (const tick of this.#ticks.values()) {
      tick.writes = 0;
      if (tick.active !== tick.onDisk) this.#waitAnew(tick, now);
      tick.active = tick.onDisk;
      if (!this.#isDiskSound) tick.ranAt = [];
    }
  }

  #offlineAt(now: number): number {
    return this.#offlineMs + now - (this.#offlineSince ?? now);
  }

  #tick(name: string): Tick {
    const known = this.#ticks.get(name);
    if (known !== undefined) return known;
    const made: Tick = {
      shortestMs: 0,
      longestMs: Infinity,
      active: false,
      onDisk: false,
      writes: 0,
      ranAt: [],
      isNew: true,
      waitsSince: 0,
      offlineMs: 0,
      restarts: 0,
    };
    this.#ticks.set(name, made);
    return made;
  }
}
