/** A Paranoid Pirate engine and its codec, in words: peers have names, effects are lines of text. */
import { fromLatin1 } from '@proj/frames';
import {
  decodePppAtFrontend,
  decodePppAtQueue,
  encodePppCorrelation,
  type PppHeartbeat,
  type PppRequest,
} from '@proj/frames/ppp';
import type { RejectReason, UndeliverableReason } from '@proj/transport';
import type {
  PppBackendEvent,
  PppPoolEffect,
  PppPoolEvent,
  PppQueueEffect,
  PppQueueEvent,
} from '../../src/ppp/engine/events.js';
import { PppQueueEngine } from '../../src/ppp/engine/engine.js';
import { PppPoolEngine } from '../../src/ppp/engine/pool-engine.js';
import { pppPoolOptions, pppQueueOptions, type PppPoolOptions, type PppQueueOptions } from '../../src/ppp/options.js';
import { EngineUnderTest, type Machine } from '../engine-under-test.js';
import { peerNamed } from '../keyed.js';
import { describeEffect } from './words.js';

/** What queue and pool share. */
class UnderTest<
  Event,
  Effect extends PppQueueEffect | PppPoolEffect,
  Tested extends Machine<Event | PppBackendEvent, Effect>,
> extends EngineUnderTest<Event | PppBackendEvent, Effect, Tested> {
  readonly #lastSent = new Map<string, PppRequest | PppHeartbeat>();

  protected override describe(effect: Effect): string {
    if (effect.kind === 'send' && effect.socket === 'backend') this.#lastSent.set(effect.peer.key, effect.command);
    return describeEffect(effect);
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

  /** The last message to the worker could not be delivered. */
  workerUndeliverable(worker: string, reason: UndeliverableReason = 'unreachable'): string[] {
    const command = this.#lastSent.get(worker);
    if (command === undefined) throw new Error(`nothing was sent to ${worker}`);
    return this.step({ kind: 'undeliverable', socket: 'backend', peer: peerNamed(worker), command, reason });
  }

  workerRejected(worker: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', socket: 'backend', peer: peerNamed(worker), reason });
  }

  /** As `advance`, without the heartbeats. */
  advanceQuietly(ms: number): string[] {
    return this.advance(ms).filter((line) => !line.endsWith('HEARTBEAT'));
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
}
