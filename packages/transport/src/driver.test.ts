import { ManualClock } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';
import { describe, expect, it, vi } from 'vitest';
import { Driver } from './driver.js';
import type { Engine, TimerEvent } from './engine/engine.js';

type Event = string | TimerEvent;

/** An engine that records its steps and answers as the test says. */
class ScriptedEngine implements Engine<string, string> {
  deadline = Infinity;
  readonly steps: string[] = [];
  onStep: (event: Event, now: number) => readonly string[] = () => [];
  invariantsChecked = 0;

  step(event: Event, now: number): readonly string[] {
    const text = typeof event === 'string' ? event : `timer late ${event.lateMs}`;
    this.steps.push(`${text} @${now}`);
    return this.onStep(event, now);
  }

  assertInvariants(): void {
    this.invariantsChecked++;
  }
}

/** The clock of a process that is too busy to run its timers: they fire when the test says. */
class BusyClock implements Clock {
  time = 100;
  readonly armed: { readonly deadline: number; readonly fire: () => void }[] = [];

  now(): number {
    return this.time;
  }

  at(deadline: number, fire: () => void): Timer {
    this.armed.push({ deadline, fire });
    return { cancel: () => {} };
  }
}

function setUp(perform: (effect: string, driver: Driver<string, string>) => void = () => {}) {
  const clock = new ManualClock(100);
  const engine = new ScriptedEngine();
  const performed: string[] = [];
  const driver: Driver<string, string> = new Driver(engine, { clock }, (effect) => {
    performed.push(effect);
    perform(effect, driver);
  });
  return { clock, engine, performed, driver };
}

describe('Driver', () => {
  it('delivers an event with the time and performs the effects in order', () => {
    const { engine, performed, driver } = setUp();
    engine.onStep = () => ['one', 'two'];
    driver.dispatch('hello');

    expect(engine.steps).toEqual(['hello @100']);
    expect(performed).toEqual(['one', 'two']);
  });

  it('never re-enters the engine: what an effect causes comes after the effects of the step', () => {
    const { engine, performed, driver } = setUp((effect, self) => {
      if (effect !== 'send') return;
      self.dispatch('undeliverable 1');
      self.dispatch('undeliverable 2');
      expect(engine.steps).toHaveLength(1);
    });
    engine.onStep = (event) => (event === 'request' ? ['send', 'log'] : [`requeue ${JSON.stringify(event)}`]);
    driver.dispatch('request');

    expect(engine.steps).toEqual(['request @100', 'undeliverable 1 @100', 'undeliverable 2 @100']);
    expect(performed).toEqual(['send', 'log', 'requeue "undeliverable 1"', 'requeue "undeliverable 2"']);
  });

  it('moves none of many waiting events to deliver the next one', () => {
    const { engine, driver } = setUp((effect, self) => {
      if (effect === 'send') for (let n = 0; n < 1000; n++) self.dispatch('undeliverable');
    });
    engine.onStep = (event) => (event === 'request' ? ['send'] : []);
    const shift = vi.spyOn(Array.prototype, 'shift');
    driver.dispatch('request');
    const shifts = shift.mock.calls.length;
    shift.mockRestore();

    expect([engine.steps.length, shifts]).toEqual([1001, 0]);
  });

  it('lets an exception of an effect through, and still works afterwards', () => {
    const { engine, driver } = setUp(() => {
      throw new Error('bug');
    });
    engine.onStep = (event) => (event === 'bad' ? ['boom'] : []);

    expect(() => {
      driver.dispatch('bad');
    }).toThrow('bug');
    driver.dispatch('good');
    expect(engine.steps).toEqual(['bad @100', 'good @100']);
  });

  it('shows the engine to the probe after each step, before its effects', () => {
    const clock = new ManualClock();
    const engine = new ScriptedEngine();
    const order: string[] = [];
    const probe = (probed: Engine<never, unknown>): void => {
      probed.assertInvariants();
      order.push('probe');
    };
    const driver = new Driver<string, string>(engine, { clock, probe }, (effect) => order.push(effect));
    engine.onStep = () => ['effect'];
    driver.dispatch('a');
    driver.dispatch('b');

    expect(order).toEqual(['probe', 'effect', 'probe', 'effect']);
    expect(engine.invariantsChecked).toBe(2);
  });
});

describe('the timer of a Driver', () => {
  it('is armed for the deadline after a step and delivers it then', () => {
    const { clock, engine, driver } = setUp();
    engine.onStep = (event, now) => {
      engine.deadline = typeof event === 'string' ? now + 50 : Infinity;
      return [];
    };
    driver.dispatch('start');
    expect(clock.nextDeadline).toBe(150);
    clock.advance(50);

    expect(engine.steps).toEqual(['start @100', 'timer late 0 @150']);
    expect(clock.armed).toBe(0);
  });

  it('is moved when the deadline comes nearer', () => {
    const { clock, engine, driver } = setUp();
    engine.deadline = 300;
    driver.dispatch('far');
    engine.deadline = 200;
    driver.dispatch('near');

    expect([clock.nextDeadline, clock.armed]).toEqual([200, 1]);
  });

  it('stays when the deadline moves away, wakes early without a step, and is armed again', () => {
    const { clock, engine, driver } = setUp();
    engine.deadline = 200;
    driver.dispatch('a');
    engine.deadline = 300;
    driver.dispatch('b');
    expect([clock.nextDeadline, clock.armed]).toEqual([200, 1]);
    clock.advanceTo(200);

    expect(engine.steps).toHaveLength(2);
    expect([clock.nextDeadline, clock.armed]).toEqual([300, 1]);
  });

  it('is not armed for a deadline that never comes', () => {
    const { clock, driver } = setUp();
    driver.dispatch('a');

    expect(clock.armed).toBe(0);
  });

  it('reports how late it is', () => {
    const engine = new ScriptedEngine();
    const clock = new BusyClock();
    const driver = new Driver<string, string>(engine, { clock }, () => {});
    engine.onStep = (event, now) => {
      engine.deadline = typeof event === 'string' ? now + 50 : Infinity;
      return [];
    };
    driver.dispatch('start');
    clock.time = 180;
    clock.armed[0]?.fire();

    expect(engine.steps).toEqual(['start @100', 'timer late 30 @180']);
  });

  it('is delivered after an event when it has become due meanwhile, until nothing is due', () => {
    const engine = new ScriptedEngine();
    const clock = new BusyClock();
    const driver = new Driver<string, string>(engine, { clock }, () => {});
    const deadlines = [110, 120, 500];
    engine.onStep = (event) => {
      if (typeof event !== 'string') deadlines.shift();
      engine.deadline = deadlines[0] ?? Infinity;
      return [];
    };
    driver.dispatch('start');
    clock.time = 150;
    driver.dispatch('message');

    expect(engine.steps.slice(1)).toEqual(['message @150', 'timer late 40 @150', 'timer late 30 @150']);
  });

  it('is not delivered after an event if it is about to fire: a message does not pay for all that is due', () => {
    const engine = new ScriptedEngine();
    const clock = new BusyClock();
    const driver = new Driver<string, string>(engine, { clock }, () => {});
    engine.deadline = 110;
    engine.onStep = (event) => {
      if (typeof event !== 'string') engine.deadline = Infinity;
      return [];
    };
    driver.dispatch('start');
    clock.time = 129;
    driver.dispatch('message');
    expect(engine.steps.slice(1)).toEqual(['message @129']);
    clock.armed[0]?.fire();
    expect(engine.steps.slice(2)).toEqual(['timer late 19 @129']);
  });

  it('is delivered after an event that makes something due, for which no timer is armed', () => {
    const engine = new ScriptedEngine();
    const clock = new BusyClock();
    const driver = new Driver<string, string>(engine, { clock }, () => {});
    engine.deadline = 150;
    driver.dispatch('start');
    engine.onStep = (event) => {
      engine.deadline = typeof event === 'string' ? 100 : 150;
      return [];
    };
    driver.dispatch('message');
    expect(engine.steps.slice(1)).toEqual(['message @100', 'timer late 0 @100']);
  });

  it('comes after the events caused by its own effects', () => {
    const { clock, engine, driver } = setUp((effect, self) => {
      self.dispatch(`caused by ${effect}`);
    });
    engine.deadline = 110;
    engine.onStep = (event) => {
      if (typeof event === 'string') return [];
      engine.deadline = engine.deadline === 110 ? 120 : Infinity;
      return [`tick ${engine.deadline}`];
    };
    driver.dispatch('start');
    clock.advanceTo(200);

    expect(engine.steps).toEqual([
      'start @100',
      'timer late 0 @110',
      'caused by tick 120 @110',
      'timer late 0 @120',
      'caused by tick Infinity @120',
    ]);
  });

  it('fails loudly when a timer step leaves its deadline where it was, instead of looping forever', () => {
    const { engine, driver } = setUp();
    engine.deadline = 90;

    expect(() => {
      driver.dispatch('start');
    }).toThrow('did not move its deadline past 90');
  });
});

describe('a stopped Driver', () => {
  it('delivers nothing, performs nothing and leaves no timer', () => {
    const { clock, engine, driver } = setUp();
    engine.deadline = 150;
    driver.dispatch('start');
    driver.stop();
    expect(clock.armed).toBe(0);
    driver.stop();
    driver.dispatch('late');
    clock.advance(1000);

    expect(engine.steps).toEqual(['start @100']);
  });

  it('discards the remaining effects and events when one of them stops it', () => {
    const { clock, engine, performed, driver } = setUp((effect, self) => {
      if (effect === 'stop') self.stop();
      else self.dispatch('caused');
    });
    engine.deadline = 150;
    engine.onStep = () => ['first', 'stop', 'second'];
    driver.dispatch('start');

    expect(performed).toEqual(['first', 'stop']);
    expect(engine.steps).toEqual(['start @100']);
    expect(clock.armed).toBe(0);
  });

  it('does not deliver a deadline that has passed when the step before it stops the driver', () => {
    const { engine, driver } = setUp((_, self) => {
      self.stop();
    });
    engine.deadline = 90;
    engine.onStep = () => ['stop'];
    driver.dispatch('start');

    expect(engine.steps).toEqual(['start @100']);
  });

  it('ignores a timer that fires anyway', () => {
    const engine = new ScriptedEngine();
    const clock = new BusyClock();
    const driver = new Driver<string, string>(engine, { clock }, () => {});
    engine.deadline = 150;
    driver.dispatch('start');
    driver.stop();
    clock.time = 150;
    clock.armed[0]?.fire();

    expect(engine.steps).toEqual(['start @100']);
  });
});
