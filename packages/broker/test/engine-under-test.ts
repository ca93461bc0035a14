/** An engine of any broker, in words: effects become lines of text. */
import { passTime } from '@proj/testkit';
import type { Access, AccessRules, Engine, TimerEvent } from '@proj/transport';
import { accessFor } from './keyed.js';

/** What every engine is told. */
type Common = { readonly kind: 'access'; readonly access: Access } | { readonly kind: 'drain' } | TimerEvent;

/** An engine with statistics. */
export interface Machine<Event, Effect> extends Engine<Event | Common, Effect> {
  stats(): { readonly counters: { readonly dropped: Readonly<Record<string, number>> } };
}

/** One engine with its own clock. Checks the invariants after every step. */
export abstract class EngineUnderTest<Event, Effect, Tested extends Machine<Event, Effect>> {
  readonly engine: Tested;
  now = 0;

  constructor(engine: Tested) {
    this.engine = engine;
  }

  /** One line for one effect. Encodes what is sent, so that nothing unsendable passes. */
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

  /** Sets rules whose keys are names of owners. */
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

  /** Lets time pass without telling the engine, as if the process were busy; then delivers the late timer. */
  stall(ms: number): string[] {
    this.now += ms;
    return passTime(this, this.engine, 0).flatMap(([, lines]) => lines);
  }
}
