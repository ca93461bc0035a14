/** Any sequence of events, at any time: the invariants hold, nothing is thrown, and no peer notices a broken rule. */
import { fromLatin1 } from '@proj/frames';
import { decodePppAtFrontend, decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import type { PppToFrontend, PppToQueue } from '@proj/frames/ppp';
import { arbitraries, passTime } from '@proj/testkit';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { accessFor, keyOf, peerNamed } from '../../../test/keyed.js';
import { Observer } from '../../../test/ppp/observer.js';
import { describeEffect } from '../../../test/ppp/words.js';
import type { PppBackendEvent, PppPoolEffect, PppPoolEvent, PppQueueEffect, PppQueueEvent } from './events.js';
import { PppQueueEngine } from './engine.js';
import { PppPoolEngine } from './pool-engine.js';
import { pppPoolOptions, pppQueueOptions, type PppPoolOptions } from '../options.js';
import type { PppPoolStats } from './state.js';

const INTERVAL_MS = 100;

/** Options that queue and pool share. */
const shared: fc.Arbitrary<PppPoolOptions> = fc.record({
  heartbeatIntervalMs: fc.constant(INTERVAL_MS),
  liveness: fc.integer({ min: 2, max: 4 }),
  busyExpiryMs: fc.constantFrom(100, 300, 2000),
  muteExpiryMs: fc.constantFrom(2000, 5000),
  jobTimeoutMs: fc.constantFrom(0, 150, 1000),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  requestQueueMax: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(24)),
  requestQueueMaxBytes: fc.constantFrom(3072, 1_000_000),
  maxMessageBytes: fc.constant(1024),
  maxMessageFrames: fc.constant(8),
  workersMax: fc.integer({ min: 1, max: 5 }),
  drainMs: fc.constantFrom(0, 100, 1000),
});

const worker = fc.constantFrom('w1@ada', 'w2@bob', 'w3', 'w4@ada', 'both@bob');
const client = fc.constantFrom('c1@ada', 'c2@bob', 'c3', 'both@bob');
const owners = fc.subarray(['ada', 'bob', 'eve']);

type Failure = 'gone' | 'unreachable' | 'congested' | 'too-large';

type Action =
  | { readonly do: 'say'; readonly who: string; readonly what: 'ready' | 'heartbeat' }
  | { readonly do: 'answer'; readonly who: string; readonly right: boolean }
  | { readonly do: 'fail'; readonly who: string; readonly how: Failure }
  | { readonly do: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly do: 'dismiss'; readonly who: string; readonly isGraceful: boolean }
  | { readonly do: 'drain' }
  /** Rule 20: other rules, and another peer with the routing id of a worker. */
  | { readonly do: 'rule'; readonly serving: readonly string[]; readonly asking: readonly string[] }
  | { readonly do: 'forge'; readonly who: string; readonly what: 'ready' | 'heartbeat' | 'answer' | 'too-large' }
  /** A queue's. */
  | { readonly do: 'ask'; readonly who: string; readonly hops: readonly string[] }
  | { readonly do: 'flood'; readonly who: string }
  | { readonly do: 'fail-client'; readonly who: string; readonly how: Failure }
  /** A pool's. */
  | { readonly do: 'call'; readonly timeoutMs: number }
  | { readonly do: 'abort'; readonly which: number };

const one = <Value extends string>(value: Value) => fc.constant(value);
const oneIn = (times: number) => fc.integer({ min: 1, max: times }).map((drawn) => drawn === 1);
const failure = fc.constantFrom<Failure[]>('gone', 'unreachable', 'congested', 'too-large');

const common = [
  {
    weight: 60,
    arbitrary: fc.record({
      do: one('say'),
      who: worker,
      what: fc.constantFrom('ready' as const, 'heartbeat' as const),
    }),
  },
  { weight: 80, arbitrary: fc.record({ do: one('answer'), who: worker, right: oneIn(10).map((wrong) => !wrong) }) },
  { weight: 15, arbitrary: fc.record({ do: one('fail'), who: worker, how: failure }) },
  {
    weight: 40,
    arbitrary: fc.record({ do: one('wait'), ms: fc.integer({ min: 0, max: 400 }), late: oneIn(5) }),
  },
  { weight: 8, arbitrary: fc.record({ do: one('dismiss'), who: worker, isGraceful: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: one('drain') }) },
  { weight: 6, arbitrary: fc.record({ do: one('rule'), serving: owners, asking: owners }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: one('forge'),
      who: worker,
      what: fc.constantFrom('ready' as const, 'heartbeat' as const, 'answer' as const, 'too-large' as const),
    }),
  },
];

const queueAction: fc.Arbitrary<Action> = fc.oneof(
  ...common,
  {
    weight: 80,
    arbitrary: fc.record({
      do: one('ask'),
      who: client,
      hops: fc.array(fc.constantFrom('h1', 'h2'), { maxLength: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: one('flood'), who: client }) },
  { weight: 15, arbitrary: fc.record({ do: one('fail-client'), who: client, how: failure }) },
);

const poolAction: fc.Arbitrary<Action> = fc.oneof(
  ...common,
  { weight: 80, arbitrary: fc.record({ do: one('call'), timeoutMs: fc.integer({ min: 1, max: 2000 }) }) },
  { weight: 20, arbitrary: fc.record({ do: one('abort'), which: fc.nat(100) }) },
);

type AnyEngine = Engine<PppQueueEvent | PppPoolEvent, PppQueueEffect | PppPoolEffect> & { stats(): PppPoolStats };

/** An engine with its observer, and mostly well-behaved peers that do what the actions say. */
class World {
  readonly engine: AnyEngine;
  readonly observer: Observer;
  readonly said: string[] = [];
  readonly unsettled = new Set<number>();
  now = 0;
  readonly #lastSent = new Map<string, PppToQueue | PppToFrontend | object>();
  #asked = 0;

  constructor(engine: AnyEngine, options: { readonly heartbeatIntervalMs: number; readonly maxAttempts: number }) {
    this.engine = engine;
    this.observer = new Observer(options);
  }

  static queue(options: PppPoolOptions & { requestTtlMs?: number }): World {
    const settings = pppQueueOptions.parse(options);
    return new World(new PppQueueEngine(settings), settings);
  }

  static pool(options: PppPoolOptions): World {
    const settings = pppPoolOptions.parse(options);
    return new World(new PppPoolEngine(settings), settings);
  }

  step(event: PppQueueEvent | PppPoolEvent | TimerEvent): void {
    const effects = this.engine.step(event, this.now);
    this.engine.assertInvariants();
    this.observer.observe(event, effects, this.now);
    for (const effect of effects) {
      this.said.push(`${this.now} ${describeEffect(effect)}`);
      if (effect.kind === 'send' && effect.socket === 'backend') this.#lastSent.set(effect.peer.key, effect.command);
      if (effect.kind === 'answer' || effect.kind === 'fail') expect(this.unsettled.delete(effect.id)).toBe(true);
    }
  }

  perform(action: Action): void {
    switch (action.do) {
      case 'say':
        this.#fromWorker(peerNamed(action.who), { kind: action.what });
        break;
      case 'answer':
        this.#answer(peerNamed(action.who), action.right);
        break;
      case 'rule':
        this.step({
          kind: 'access',
          access: accessFor([
            { keys: action.serving, serve: ['ppp'] },
            { keys: action.asking, request: ['ppp'] },
          ]),
        });
        break;
      case 'forge':
        this.#forge({ ...peerNamed(action.who), publicKey: keyOf('eve') }, action.what);
        break;
      case 'ask':
        this.#ask(action.who, action.hops);
        break;
      case 'flood':
        for (let i = 0; i < 24; i++) this.#ask(action.who, []);
        break;
      case 'call':
        this.unsettled.add(this.#asked);
        this.step({ kind: 'request', id: this.#asked, content: this.#body(), timeoutMs: action.timeoutMs });
        break;
      case 'abort':
        this.unsettled.delete(action.which);
        this.step({ kind: 'abort', id: action.which });
        break;
      case 'fail':
        this.#failWorker(action.who, action.how);
        break;
      case 'fail-client':
        this.#failClient(action.who, action.how);
        break;
      case 'wait':
        this.wait(action.ms, action.late);
        break;
      case 'dismiss':
        this.step({ kind: 'dismiss', worker: action.who, isGraceful: action.isGraceful });
        break;
      case 'drain':
        this.step({ kind: 'drain' });
    }
  }

  /** Advances time; timers come on time, or all at once at the end. */
  wait(ms: number, late = false): void {
    if (late) this.now += ms;
    passTime(this, this.engine, late ? 0 : ms);
  }

  #body(): Uint8Array[] {
    return [fromLatin1(`#${this.#asked++}`)];
  }

  #ask(who: string, hops: readonly string[]): void {
    const command = { kind: 'client-request', hops: hops.map(fromLatin1), content: this.#body() } as const;
    this.step({ kind: 'message', socket: 'frontend', peer: peerNamed(who), command });
  }

  #fromWorker(peer: Peer, command: PppToQueue): void {
    this.step({ kind: 'message', socket: 'backend', peer, command });
  }

  #answer(peer: Peer, right: boolean): void {
    const job = this.observer.jobOf(peer.key);
    const addresses = right ? (job?.addresses ?? [fromLatin1('c1')]) : [fromLatin1('stranger')];
    this.#fromWorker(peer, { kind: 'reply', addresses, content: [fromLatin1(job?.body ?? 'none')] });
  }

  #forge(peer: Peer, what: (Action & { do: 'forge' })['what']): void {
    if (what === 'answer') this.#answer(peer, true);
    else if (what === 'too-large') this.step({ kind: 'rejected', socket: 'backend', peer, reason: what });
    else this.#fromWorker(peer, { kind: what });
  }

  #failWorker(who: string, how: Failure): void {
    const about = { socket: 'backend', peer: peerNamed(who) } as const;
    const command = this.#lastSent.get(who) as (PppBackendEvent & { kind: 'undeliverable' })['command'] | undefined;
    if (how === 'gone') this.step({ kind: 'peer-gone', ...about });
    else if (how === 'too-large') this.step({ kind: 'rejected', ...about, reason: how });
    else if (command !== undefined) {
      this.#lastSent.delete(who);
      this.step({ kind: 'undeliverable', ...about, command, reason: how });
    }
  }

  #failClient(who: string, how: Failure): void {
    const about = { socket: 'frontend', peer: peerNamed(who) } as const;
    if (how === 'gone') this.step({ kind: 'peer-gone', ...about });
    else if (how === 'too-large') this.step({ kind: 'rejected', ...about, reason: how });
    else this.step({ kind: 'undeliverable', ...about, reason: how });
  }
}

/** A world for each kind of engine, with what may happen in it. */
const queues = fc.record({ options: shared, requestTtlMs: fc.constantFrom(50, 500, 5000) });
const KINDS = [
  [
    'queue',
    (size: number) =>
      fc.tuple(
        queues.map(
          ({ options, requestTtlMs }) =>
            () =>
              World.queue({ ...options, requestTtlMs }),
        ),
        fc.array(queueAction, { maxLength: size, size: 'max' }),
      ),
  ],
  [
    'pool',
    (size: number) =>
      fc.tuple(
        shared.map((options) => () => World.pool(options)),
        fc.array(poolAction, { maxLength: size, size: 'max' }),
      ),
  ],
] as const;

it.each(KINDS)('a %s keeps its invariants and its rules whatever happens', (_kind, stories) => {
  fc.assert(
    fc.property(stories(150), ([make, actions]) => {
      const world = make();
      for (const each of actions) world.perform(each);
    }),
    { numRuns: 400 },
  );
});

it.each(KINDS)(
  'a %s comes to rest: what was accepted is answered or given up, nothing is remembered',
  (_kind, stories) => {
    fc.assert(
      fc.property(stories(80), ([make, actions]) => {
        const world = make();
        for (const each of actions) world.perform(each);
        world.wait(60_000);
        world.wait(60_000);
        const nothing = { workers: 0, busy: 0, waiting: 0, openRequests: 0, openBytes: 0 };
        expect(world.engine.stats()).toMatchObject(nothing);
        expect(world.unsettled.size).toBe(0);
        expect(world.engine.deadline).toBe(Infinity);
      }),
      { numRuns: 200 },
    );
  },
);

it.each(KINDS)('a %s is deterministic: equal events give equal effects', (_kind, stories) => {
  fc.assert(
    fc.property(stories(60), ([make, actions]) => {
      const [one, two] = [make(), make()];
      for (const each of actions) one.perform(each);
      for (const each of actions) two.perform(each);
      expect(one.said).toEqual(two.said);
    }),
    { numRuns: 50 },
  );
});

it('a queue survives any frames from any peer, at both sockets', () => {
  const words = ['', '\x01', '\x02', '\x03', '\x01\x00', 'c1', 'c2', 'x'].map(fromLatin1);
  const frames = fc.oneof(
    arbitraries.message(),
    arbitraries.messageOf(words),
    arbitraries.mutated(arbitraries.pppToQueue.map(encodePpp)),
    arbitraries.mutated(arbitraries.pppClientRequest.map(encodePpp)),
  );
  const said = fc.record({ socket: fc.constantFrom('frontend' as const, 'backend' as const), who: worker, frames });
  fc.assert(
    fc.property(fc.array(said, { maxLength: 60, size: 'max' }), (messages) => {
      const engine = new PppQueueEngine(pppQueueOptions.parse({ heartbeatIntervalMs: INTERVAL_MS }));
      for (const [now, { socket, who, frames: message }] of messages.entries()) {
        const peer = peerNamed(who);
        const effects =
          socket === 'backend'
            ? engine.step({ kind: 'message', socket, peer, command: decodePppAtQueue(message) }, now)
            : engine.step({ kind: 'message', socket, peer, command: decodePppAtFrontend(message) }, now);
        effects.forEach(describeEffect);
        engine.assertInvariants();
      }
    }),
    { numRuns: 1000 },
  );
});
