/** Drives a consumer's session by hand: events in, effects out as lines of text, time moved from deadline to deadline. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtConsumer } from '@proj/frames/pzq';
import { passTime } from '@proj/testkit';
import type { Peer } from '@proj/transport';
import { PzqConsumerSession } from '../../src/pzq/engine/consumer-session.js';
import type {
  PzqConsumerEffect,
  PzqConsumerEvent,
  PzqConsumerSessionOptions,
  PzqHanded,
  PzqVerdict,
} from '../../src/pzq/engine/consumer-events.js';

const peerOf = (name: string): Peer => ({ key: name, id: fromLatin1(name) });

/** One effect as a line: what a reader needs to know of it. */
function line(effect: PzqConsumerEffect): string {
  switch (effect.kind) {
    case 'hand':
      return `hand ${latin1(effect.handed.delivery.key)}`;
    case 'send': {
      const { peer, command } = effect;
      const sign = command.kind === 'lease-extension' ? '' : command.positive ? '+' : '-';
      return `${peer.key} ${sign}${latin1(command.key)}`;
    }
    case 'clock-skew':
      return `clock-skew ${effect.byMs}`;
    case 'note':
      return `note ${Object.values(effect.note).join(' ')}`;
    case 'pause':
    case 'resume':
    case 'drained':
      return effect.kind;
  }
}

/** Where the wall clock stands at time 0, in microseconds. */
const EPOCH = 1_795_199_729_632_593;

/** A session at time 0 with prefetch 3, unless told otherwise. The queue `Q` has leases of 5 s. Checks invariants after each step. */
export class ConsumerRig {
  now = 0;
  /** What the consumer's wall clock is ahead of the queue's. */
  skewMs = 0;
  readonly session: PzqConsumerSession;
  /** What was handed out, by key; the last one of each. */
  readonly handed = new Map<string, PzqHanded>();

  constructor(options: Partial<PzqConsumerSessionOptions> = {}) {
    const defaults = { prefetch: 3, dropExpired: true, dedupeMax: 100 };
    this.session = new PzqConsumerSession({ ...defaults, ...options }, () => EPOCH + (this.now + this.skewMs) * 1000);
  }

  /** Delivers one event and returns the effects. */
  step(event: PzqConsumerEvent | { kind: 'timer'; lateMs: number }): string[] {
    const effects = this.session.step(event, this.now);
    for (const effect of effects)
      if (effect.kind === 'hand') this.handed.set(latin1(effect.handed.delivery.key), effect.handed);
    this.session.assertInvariants();
    return effects.map(line);
  }

  /** A delivery that was sent so many milliseconds ago. */
  deliver(key: string, { agoMs = 0, from = 'Q' } = {}): string[] {
    const sent = (EPOCH + (this.now - agoMs) * 1000).toString();
    return this.receive(from, key, sent, '5000000', '', 'body');
  }

  /** Whatever the socket brings. */
  receive(from: string, ...frames: string[]): string[] {
    return this.step({ kind: 'message', peer: peerOf(from), message: decodePzqAtConsumer(frames.map(fromLatin1)) });
  }

  /** So many readers more. */
  demand(readers = 1): string[] {
    return Array.from({ length: readers }, () => this.step({ kind: 'demand' })).flat();
  }

  settle(key: string, verdict: PzqVerdict, handed = this.handed.get(key)!): string[] {
    return this.step({ kind: 'settle', handed, verdict });
  }

  /** Moves time by `ms`, delivering each deadline on its way, punctually. */
  advance(ms: number): string[] {
    return passTime(this, this.session, ms).flatMap(([, lines]) => lines);
  }
}
