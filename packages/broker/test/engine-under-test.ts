/** An engine of any broker, in words: effects are lines of text. */
import { passTime } from '@proj/testkit';
import type { Access, AccessRules, Engine, TimerEvent } from '@proj/transport';
import { accessFor } from './keyed.js';

/** What every engine is told. */
type Common = { readonly kind: 'access'; readonly access: Access } | { readonly kind: 'drain' } | TimerEvent;

/** An engine that can be asked for its figures. */
export interface Machine<Event, Effect> extends Engine<Event | Common, Effect> {
  stats(): { readonly counters: { readonly dropped: Readonly<Record<string, number>> } };
}

/** One engine at a time of its own. After every step its invariants are checked. */
export abstract class EngineUnderTest<Event, Effect, Tested extends Machine<Event, Effect>> {
  readonly engine: Tested;
  now = 0;

  constructor(engine: Tested) {
    this.engine = engine;
  }

  /** One line for one effect; what is sent is encoded on the way, so that nothing unsendable passes. */
  protected abstract describe(effect: Effect): string;

  get stats(): ReturnType<Tested['stats']> {
    return this.engine.stats() as ReturnType<Tested['stats']>;
  }

  get dropped(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.stats.counters.dropped).filter(([, count]) => count > 0));
  }

  /** Delivers an event and returns what follows. */
  step(event: Event | Common): string[] {
    const effects = this.engine.step(event, this.now);
    this.engine.assertInvariants();
    return effects.map((effect) => this.describe(effect));
  }

  /** Rules whose keys are names of owners. */
  access(...rules: AccessRules): string[] {
    return this.step({ kind: 'access', access: accessFor(rules) });
  }

  drain(): string[] {
    return this.step({ kind: 'drain' });
  }

  /** Lets time pass; each line says when. */
  advance(ms: number): string[] {
    return passTime(this, this.engine, ms).flatMap(([now, lines]) => lines.map((line) => `${now}ms: ${line}`));
  }

  /** Lets time pass without the engine being told: the process was busy. Then the timer comes, late. */
  stall(ms: number): string[] {
    this.now += ms;
    return passTime(this, this.engine, 0).flatMap(([, lines]) => lines);
  }
}
