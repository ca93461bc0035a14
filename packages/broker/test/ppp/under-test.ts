/** A Paranoid Pirate engine with its codec around it, in words: peers have names, effects are lines of text. */
import { fromLatin1 } from '@proj/frames';
import {
  decodePppAtFrontend,
  decodePppAtQueue,
  encodePppCorrelation,
  type PppHeartbeat,
  type PppRequest,
} from '@proj/frames/ppp';
import type { AccessRules, Engine, RejectReason, TimerEvent, UndeliverableReason } from '@proj/transport';
import type {
  PppAccess,
  PppBackendEvent,
  PppPoolEffect,
  PppPoolEvent,
  PppQueueEffect,
  PppQueueEvent,
} from '../../src/ppp/effects.js';
import { PppQueueEngine } from '../../src/ppp/engine.js';
import { PppPoolEngine } from '../../src/ppp/engine-pool.js';
import { pppPoolOptions, pppQueueOptions, type PppPoolOptions, type PppQueueOptions } from '../../src/ppp/options.js';
import type { PppPoolStats } from '../../src/ppp/stats.js';
import { accessFor } from '../keyed.js';
import { describeEffect, peerNamed } from './words.js';

/** An engine that can be asked for its figures. */
interface Machine<Event, Effect> extends Engine<Event, Effect> {
  stats(): PppPoolStats;
}

/** One engine at a time of its own. After every step its invariants are checked. */
class UnderTest<
  Event extends { kind: string },
  Effect extends PppQueueEffect | PppPoolEffect,
  Tested extends Machine<Event | PppBackendEvent | PppAccess, Effect>,
> {
  readonly engine: Tested;
  now = 0;
  readonly #lastSent = new Map<string, PppRequest | PppHeartbeat>();

  constructor(engine: Tested) {
    this.engine = engine;
  }

  get stats(): ReturnType<Tested['stats']> {
    return this.engine.stats() as ReturnType<Tested['stats']>;
  }

  get dropped(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.stats.counters.dropped).filter(([, count]) => count > 0));
  }

  /** Delivers an event and returns what follows. */
  step(event: Event | PppBackendEvent | PppAccess | TimerEvent): string[] {
    const effects = this.engine.step(event, this.now);
    this.engine.assertInvariants();
    for (const effect of effects) {
      if (effect.kind === 'send' && effect.socket === 'backend') this.#lastSent.set(effect.peer.key, effect.command);
    }
    return effects.map(describeEffect);
  }

  /** A worker's message, each frame given as latin1 text. */
  backend(name: string, ...frames: string[]): string[] {
    const command = decodePppAtQueue(frames.map(fromLatin1));
    return this.step({ kind: 'message', socket: 'backend', peer: peerNamed(name), command });
  }

  ready(worker: string): string[] {
    return this.backend(worker, '\x01');
  }

  heartbeat(worker: string): string[] {
    return this.backend(worker, '\x02');
  }

  workerGone(worker: string): string[] {
    return this.step({ kind: 'peer-gone', socket: 'backend', peer: peerNamed(worker) });
  }

  /** Rules whose keys are names of owners. */
  access(...rules: AccessRules): string[] {
    return this.step({ kind: 'access', access: accessFor(rules) });
  }

  /** What was last sent to the worker comes back. */
  workerUndeliverable(worker: string, reason: UndeliverableReason = 'unreachable'): string[] {
    const command = this.#lastSent.get(worker);
    if (command === undefined) throw new Error(`nothing was sent to ${worker}`);
    return this.step({ kind: 'undeliverable', socket: 'backend', peer: peerNamed(worker), command, reason });
  }

  workerRejected(worker: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', socket: 'backend', peer: peerNamed(worker), reason });
  }

  /** Lets time pass; each line says when. */
  advance(ms: number): string[] {
    const until = this.now + ms;
    const lines: string[] = [];
    while (this.engine.deadline <= until) {
      this.now = Math.max(this.now, this.engine.deadline);
      lines.push(...this.step({ kind: 'timer', lateMs: 0 }).map((line) => `${this.now}ms: ${line}`));
    }
    this.now = until;
    return lines;
  }

  /** As `advance`, but for heartbeats. */
  advanceQuietly(ms: number): string[] {
    return this.advance(ms).filter((line) => !line.endsWith('HEARTBEAT'));
  }

  /** Lets time pass without the engine being told: the process was busy. Then the timer comes, late. */
  stall(ms: number): string[] {
    const due = this.engine.deadline;
    this.now += ms;
    return due <= this.now ? this.step({ kind: 'timer', lateMs: this.now - due }) : [];
  }
}

/** A queue. */
export class QueueUnderTest extends UnderTest<PppQueueEvent, PppQueueEffect, PppQueueEngine> {
  constructor(options: PppQueueOptions = {}) {
    super(new PppQueueEngine(pppQueueOptions.parse(options)));
  }

  /** A client's message, each frame given as latin1 text. */
  frontend(name: string, ...frames: string[]): string[] {
    const command = decodePppAtFrontend(frames.map(fromLatin1));
    return this.step({ kind: 'message', socket: 'frontend', peer: peerNamed(name), command });
  }

  request(client: string, ...content: string[]): string[] {
    return this.frontend(client, '', ...content);
  }

  reply(worker: string, client: string, ...content: string[]): string[] {
    return this.backend(worker, client, '', ...content);
  }

  clientGone(client: string): string[] {
    return this.step({ kind: 'peer-gone', socket: 'frontend', peer: peerNamed(client) });
  }

  clientUndeliverable(client: string, reason: UndeliverableReason = 'unreachable'): string[] {
    return this.step({ kind: 'undeliverable', socket: 'frontend', peer: peerNamed(client), reason });
  }

  clientRejected(client: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', socket: 'frontend', peer: peerNamed(client), reason });
  }

  drain(): string[] {
    return this.step({ kind: 'drain' });
  }
}

/** A pool. */
export class PoolUnderTest extends UnderTest<PppPoolEvent, PppPoolEffect, PppPoolEngine> {
  constructor(options: PppPoolOptions = {}) {
    super(new PppPoolEngine(pppPoolOptions.parse(options)));
  }

  request(id: number, body: string, timeoutMs = 30_000): string[] {
    return this.step({ kind: 'request', id, content: [fromLatin1(body)], timeoutMs });
  }

  abort(id: number): string[] {
    return this.step({ kind: 'abort', id });
  }

  reply(worker: string, id: number, ...content: string[]): string[] {
    const frames = [encodePppCorrelation(id), new Uint8Array(0), ...content.map(fromLatin1)];
    const command = decodePppAtQueue(frames);
    return this.step({ kind: 'message', socket: 'backend', peer: peerNamed(worker), command });
  }

  drain(): string[] {
    return this.step({ kind: 'drain' });
  }
}
