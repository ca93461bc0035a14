import { describe, expect, it } from 'vitest';
import { Poller } from './poller.js';

const WINDOW_MS = 0.2;
/** What a message takes when the core is awake, and what a core takes to wake. */
const NEAR_MS = 0.05;
const WAKING_MS = 0.03;
/** A trial without, one with, and the term of one that showed nothing. */
const ROUND = 64 + 64 + 1024;
/** The longest term. */
const TERM_MAX = 16 * 1024;

/** An event loop by hand: each look takes 2 us, and what is not looked for comes later by what waking takes. */
class Machine {
  now = 1000;
  looks = 0;
  /** Messages that were not looked for. */
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

  /** Lets the loop look until it does no more, or until then. */
  look(until = Infinity): void {
    while (this.armed !== undefined && this.now < until) {
      const callback = this.armed;
      this.armed = undefined;
      this.now += 0.002;
      this.looks++;
      callback();
    }
  }

  /** A turn with so many messages that come so long after the last one. */
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
  it('looks after each lone message once that brings the next one sooner', () => {
    const machine = serving();
    machine.turns(65, NEAR_MS);
    expect(machine.looks).toBe(0);
    machine.turns(1000, NEAR_MS);
    expect(machine.armed).toBeDefined();
    const { now } = machine;
    machine.turns(10, NEAR_MS);
    expect(machine.now - now).toBeLessThan(10 * (NEAR_MS + 0.003));
  });

  it('looks no longer than its window when nothing comes', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    const { now } = machine;
    machine.look();
    expect(machine.armed).toBeUndefined();
    expect(machine.now - now).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(machine.now - now).toBeLessThan(WINDOW_MS + 0.003);
  });

  it('stops where cores are awake anyway', () => {
    const machine = serving();
    machine.turns(10 * ROUND, NEAR_MS, 0);
    // Its trials alone: 64 of each round, of some 25 looks.
    expect(machine.looks).toBeGreaterThan(0);
    expect(machine.looks).toBeLessThan(10 * 64 * 30);
  });

  it('begins when waking has become dear, and ends when it is no more', () => {
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

  it('tries the more rarely the longer it has paid', () => {
    const machine = serving();
    // Terms of 2,048, 4,096, 8,192, 16,384 and 16,384; a trial before each and after the last.
    machine.turns(6 * 128 + 46 * 1024, NEAR_MS);
    expect(machine.slept).toBeGreaterThanOrEqual(6 * 64);
    expect(machine.slept).toBeLessThanOrEqual(6 * 64 + 1);
  });

  it('begins with short terms again once it has not paid', () => {
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

  it('is not misled by pauses while it looks', () => {
    const machine = serving();
    machine.turns(65, NEAR_MS, 0);
    for (let index = 0; index < 16; index++) machine.turn(10_000, 0);
    machine.turns(48, NEAR_MS, 0);
    expect(machine.looks).toBeGreaterThan(0);
    const { looks } = machine;
    machine.turns(1000, NEAR_MS, 0);
    expect(machine.looks - looks).toBeLessThan(30);
  });

  it('tries although there have been pauses since the last trial', () => {
    const machine = serving();
    machine.turns(200, NEAR_MS, 0);
    for (let index = 0; index < 20; index++) machine.turn(10_000, 0);
    machine.turns(2 * ROUND, NEAR_MS);
    expect(machine.armed).toBeDefined();
  });

  it('looks where waking alone takes longer than it would look', () => {
    const machine = serving();
    machine.turns(200, NEAR_MS, 2 * WINDOW_MS);
    const { slept } = machine;
    machine.turns(1000, NEAR_MS, 2 * WINDOW_MS);
    expect(machine.slept - slept).toBe(0);
  });

  it('does not even try where messages come long after it would look', () => {
    const machine = serving();
    machine.turns(5 * ROUND, 6 * WINDOW_MS);
    expect(machine.looks).toBe(0);
  });

  it('does not try where every other message comes too late', () => {
    const machine = serving();
    for (let index = 0; index < 3 * ROUND; index++) machine.turn(index % 2 === 0 ? NEAR_MS : 5, WAKING_MS);
    expect(machine.looks).toBe(0);
  });

  it('stops where waking is a small part of what messages take', () => {
    const machine = serving();
    for (let index = 0; index < 10 * ROUND; index++) machine.turn(index % 2 === 0 ? NEAR_MS : 3 * WINDOW_MS, WAKING_MS);
    // Its trials alone.
    expect(machine.slept).toBeGreaterThanOrEqual(10 * (ROUND - 64));
  });

  it('ends when messages have become rare, after its term', () => {
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

  it('does nothing while nobody can connect to us, or when it is told not to', () => {
    const [client, never] = [new Machine(), serving(0)];
    for (const machine of [client, never]) {
      machine.turns(2 * ROUND, NEAR_MS);
      expect([machine.looks, machine.armed]).toEqual([0, undefined]);
    }
  });

  it('is not confused by a look in the middle of a turn', () => {
    const machine = serving();
    machine.turns(500, NEAR_MS);
    machine.poller.onTurn();
    machine.look();
    expect(machine.armed).toBeUndefined();
    machine.poller.onTurnEnd(1);
    expect(machine.armed).toBeDefined();
  });
});
