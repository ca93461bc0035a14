import { describe, expect, it } from 'vitest';
import { Poller } from './poller.js';

const WINDOW_MS = 0.2;
/** The time of a message if the core is awake, and the time to wake a core. */
const NEAR_MS = 0.05;
const WAKING_MS = 0.03;
/** A trial without polling, one with, and the term after no gain. */
const ROUND = 64 + 64 + 1024;
/** The longest term. */
const TERM_MAX = 16 * 1024;

/** An event loop driven by hand. Each poll takes 2 us; a message that nobody polls for is late by the time to wake. */
class Machine {
  now = 1000;
  looks = 0;
  /** Messages that arrived without polling. */
  slept = 0;
  armed: (() => void) | undefined;
  readonly poller: Poller;

  constructor(windowMs = WINDOW_MS) {
    this.poller = new Poller(windowMs, {
      now: () => this.now,
      next: (callback) => {
        if (this.armed !== undefined) throw new Error('armed twice');
        this.armed = callback;
      },
    });
  }

  /** Runs the loop until it stops polling, or until this time. */
  look(until = Infinity): void {
    while (this.armed !== undefined && this.now < until) {
      const callback = this.armed;
      this.armed = undefined;
      this.now += 0.002;
      this.looks++;
      callback();
    }
  }

  /** A turn with this many messages, this long after the last one. */
  turn(afterMs: number, wakingMs: number, count = 1): void {
    const at = this.now + afterMs;
    this.look(at);
    const sleeps = this.armed === undefined;
    if (sleeps) this.slept++;
    this.now = Math.max(this.now, at) + (sleeps ? wakingMs : 0);
    this.poller.onTurn();
    this.poller.onTurnEnd(count);
  }

  turns(count: number, afterMs: number, wakingMs = WAKING_MS, messages = 1): void {
    for (let index = 0; index < count; index++) this.turn(afterMs, wakingMs, messages);
  }
}

function serving(windowMs?: number): Machine {
  const machine = new Machine(windowMs);
  machine.poller.serve();
  return machine;
}

describe('a poller', () => {
  it('polls after each lone message once that shortens gaps', () => {
    const machine = serving();
    machine.turns(65, NEAR_MS);
    expect(machine.looks).toBe(0);
    machine.turns(1000, NEAR_MS);
    expect(machine.armed).toBeDefined();
    const { now } = machine;
    machine.turns(10, NEAR_MS);
    expect(machine.now - now).toBeLessThan(10 * (NEAR_MS + 0.003));
  });

  it('polls no longer than its window when nothing arrives', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    const { now } = machine;
    machine.look();
    expect(machine.armed).toBeUndefined();
    expect(machine.now - now).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(machine.now - now).toBeLessThan(WINDOW_MS + 0.003);
  });

  it('stops if the cores are awake anyway', () => {
    const machine = serving();
    machine.turns(10 * ROUND, NEAR_MS, 0);
    // Only its trials: 64 per round, about 25 polls each.
    expect(machine.looks).toBeGreaterThan(0);
    expect(machine.looks).toBeLessThan(10 * 64 * 30);
  });

  it('begins when waking becomes expensive, and stops when it no longer is', () => {
    const machine = serving();
    machine.turns(ROUND, NEAR_MS, 0);
    machine.turns(2 * ROUND, NEAR_MS);
    const before = machine.looks;
    machine.turns(1000, NEAR_MS);
    expect(machine.looks - before).toBeGreaterThan(900 * 20);
    machine.turns(4 * ROUND, NEAR_MS, 0);
    const after = machine.looks;
    machine.turns(ROUND, NEAR_MS, 0);
    expect(machine.looks - after).toBeLessThan(64 * 30);
  });

  it('runs trials less often the longer polling has helped', () => {
    const machine = serving();
    // Terms of 2,048, 4,096, 8,192, 16,384 and 16,384, with a trial before each and after the last.
    machine.turns(6 * 128 + 46 * 1024, NEAR_MS);
    expect(machine.slept).toBeGreaterThanOrEqual(6 * 64);
    expect(machine.slept).toBeLessThanOrEqual(6 * 64 + 1);
  });

  it('returns to short terms once polling did not help', () => {
    const machine = serving();
    machine.turns(64 * 1024, NEAR_MS);
    machine.turns(TERM_MAX + ROUND, NEAR_MS, 0);
    machine.turns(ROUND + 128, NEAR_MS);
    expect(machine.armed).toBeDefined();
    machine.turns(2048 + 128, NEAR_MS, 0);
    const { looks } = machine;
    machine.turns(ROUND, NEAR_MS, 0);
    expect(machine.looks - looks).toBeLessThan(64 * 30);
  });

  it('is not misled by one pause', () => {
    const machine = serving();
    machine.turns(10, NEAR_MS, 0);
    machine.turn(10_000, 0);
    machine.turns(ROUND - 11, NEAR_MS, 0);
    expect(machine.looks).toBeLessThan(64 * 30);
  });

  it('is not misled by pauses while it polls', () => {
    const machine = serving();
    machine.turns(65, NEAR_MS, 0);
    for (let index = 0; index < 16; index++) machine.turn(10_000, 0);
    machine.turns(48, NEAR_MS, 0);
    expect(machine.looks).toBeGreaterThan(0);
    const { looks } = machine;
    machine.turns(1000, NEAR_MS, 0);
    expect(machine.looks - looks).toBeLessThan(30);
  });

  it('runs a trial despite pauses since the last one', () => {
    const machine = serving();
    machine.turns(200, NEAR_MS, 0);
    for (let index = 0; index < 20; index++) machine.turn(10_000, 0);
    machine.turns(2 * ROUND, NEAR_MS);
    expect(machine.armed).toBeDefined();
  });

  it('polls if waking alone takes longer than its window', () => {
    const machine = serving();
    machine.turns(200, NEAR_MS, 2 * WINDOW_MS);
    const { slept } = machine;
    machine.turns(1000, NEAR_MS, 2 * WINDOW_MS);
    expect(machine.slept - slept).toBe(0);
  });

  it('runs no trial if messages arrive long after its window', () => {
    const machine = serving();
    machine.turns(5 * ROUND, 6 * WINDOW_MS);
    expect(machine.looks).toBe(0);
  });

  it('runs no trial if every other message arrives too late', () => {
    const machine = serving();
    for (let index = 0; index < 3 * ROUND; index++) machine.turn(index % 2 === 0 ? NEAR_MS : 5, WAKING_MS);
    expect(machine.looks).toBe(0);
  });

  it('stops if waking is a small part of a message’s time', () => {
    const machine = serving();
    for (let index = 0; index < 10 * ROUND; index++) machine.turn(index % 2 === 0 ? NEAR_MS : 3 * WINDOW_MS, WAKING_MS);
    // Only its trials.
    expect(machine.slept).toBeGreaterThanOrEqual(10 * (ROUND - 64));
  });

  it('stops after its term when messages become rare', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    machine.turns(3 * ROUND, 1000);
    const { looks } = machine;
    machine.turns(3 * ROUND, 1000);
    expect(machine.looks).toBe(looks);
  });

  it('does nothing under load', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    machine.look();
    const { looks } = machine;
    machine.turns(500, NEAR_MS, WAKING_MS, 3);
    expect([machine.looks - looks, machine.armed]).toEqual([0, undefined]);
  });

  it('does nothing if no socket binds or its window is 0', () => {
    const [client, never] = [new Machine(), serving(0)];
    for (const machine of [client, never]) {
      machine.turns(2 * ROUND, NEAR_MS);
      expect([machine.looks, machine.armed]).toEqual([0, undefined]);
    }
  });

  it('is not confused by a poll in the middle of a turn', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    machine.poller.onTurn();
    machine.look();
    expect(machine.armed).toBeUndefined();
    machine.poller.onTurnEnd(1);
    expect(machine.armed).toBeDefined();
  });
});
