/** Any sequence of events, at any times: invariants hold, nothing is thrown, and no peer sees a broken rule. */
import { fromLatin1 } from '@proj/frames';
import { decodeEmqpAtAdminPort, decodeEmqpAtBroker, encodeEmqp, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpToBroker } from '@proj/frames/emqp';
import { arbitraries, framesOf, passTime } from '@proj/testkit';
import type { TimerEvent } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countingEntropy, jobBody } from '../../../test/emqp/broker-under-test.js';
import { peerNamed } from '../../../test/keyed.js';
import { Observer } from '../../../test/emqp/observer.js';
import type { EmqpBrokerEvent, EmqpFromBroker, EmqpPort } from './events.js';
import { EmqpBrokerEngine } from './engine.js';
import { emqpBrokerOptions, type EmqpBrokerOptions } from '../options.js';

const INTERVAL_MS = 100;

const options: fc.Arbitrary<EmqpBrokerOptions> = fc.record({
  heartbeatIntervalMs: fc.constant(INTERVAL_MS),
  expiryMs: fc.constantFrom(150, 300, 2000),
  unknownQueue: fc.constantFrom('default' as const, 'wait' as const),
  requestTtlMs: fc.constantFrom(50, 500, 5000),
  queueMax: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(24)),
  defaultQueueMax: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(24)),
  queueMaxBytes: fc.constantFrom(3000, 1_000_000),
  maxMessageBytes: fc.constant(1024),
  queuesMax: fc.integer({ min: 1, max: 4 }),
  peersMax: fc.integer({ min: 1, max: 7 }),
  resultRouteTtlMs: fc.constantFrom(200, 3_600_000),
  resultRouteMax: fc.constantFrom(1, 3, 1000),
  guaranteeAttempts: fc.integer({ min: 1, max: 3 }),
  leaveGraceMs: fc.constantFrom(50, 500),
  allowClientDisconnect: fc.boolean(),
  drainMs: fc.constantFrom(0, 100, 1000),
});

const worker = fc.constantFrom('w1', 'w2', 'w3', 'w4', 'both');
const client = fc.constantFrom('c1', 'c2', 'both');
const anybody = fc.oneof(worker, client, fc.constantFrom('s1', 's2'));
const queue = fc.constantFrom('default', 'default', 'a', 'b', 'c');
const port = fc.constantFrom('backend' as const, 'backend' as const, 'backend' as const, 'frontend' as const);
const way = <Name extends string>(name: Name) => fc.constant(name);

const action = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      do: way('inform'),
      who: worker,
      port,
      queues: fc.array(fc.record({ name: queue, weight: fc.constantFrom(1, 1, 5) }), { maxLength: 3 }),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: way('scheduler'), who: fc.constantFrom('s1', 's2', 'both'), port }) },
  { weight: 80, arbitrary: fc.record({ do: way('ready'), who: worker, port }) },
  {
    weight: 80,
    arbitrary: fc.record({
      do: way('ask'),
      who: client,
      queue,
      replyRequested: fc.boolean(),
      guarantee: fc.boolean(),
      retryCount: fc.constantFrom(0, 0, 2),
      timeoutSeconds: fc.constantFrom(0, 1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: way('flood'),
      who: client,
      queue,
      replyRequested: fc.boolean(),
      guarantee: fc.boolean(),
      retryCount: fc.constantFrom(0, 0, 2),
      timeoutSeconds: fc.constant(0),
    }),
  },
  { weight: 60, arbitrary: fc.record({ do: way('answer'), who: worker, port, which: fc.nat(3), named: fc.nat(9) }) },
  {
    weight: 30,
    arbitrary: fc.record({
      do: way('say'),
      who: anybody,
      port,
      kind: fc.constantFrom('heartbeat', 'heartbeat', 'bye'),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      do: way('fail'),
      who: anybody,
      port,
      how: fc.constantFrom('gone', 'unreachable', 'congested', 'too-large'),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ do: way('schedule'), kind: fc.constantFrom('schedule', 'unschedule'), job: fc.nat(3) }),
  },
  { weight: 40, arbitrary: fc.record({ do: way('wait'), ms: fc.integer({ min: 0, max: 400 }), late: fc.nat(4) }) },
  { weight: 5, arbitrary: fc.record({ do: way('look'), word: fc.constantFrom('STATUS', 'ROUTER_SHOW_WORKERS') }) },
  { weight: 10, arbitrary: fc.record({ do: way('dismiss'), who: anybody, isGraceful: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: way('retire'), queue, isGraceful: fc.boolean() }) },
  { weight: 15, arbitrary: fc.record({ do: way('pause'), queue, isPaused: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: way('purge'), queue }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('drain', 'disconnect') }) },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** An engine with its observer, and mostly well-behaved peers that do what the actions say. */
class World {
  readonly engine: EmqpBrokerEngine;
  readonly observer = new Observer(INTERVAL_MS);
  now = 0;
  readonly #lastSent = new Map<string, EmqpFromBroker>();
  #asked = 0;

  constructor(settings: EmqpBrokerOptions) {
    this.engine = new EmqpBrokerEngine(emqpBrokerOptions.parse(settings), countingEntropy());
  }

  step(event: EmqpBrokerEvent | TimerEvent): void {
    const effects = this.engine.step(event, this.now);
    for (const effect of effects) {
      if (effect.kind !== 'send') continue;
      encodeEmqp(effect.command);
      this.#lastSent.set(`${effect.port} ${effect.peer.key}`, effect.command);
    }
    this.observer.observe(event, effects, this.now);
    this.engine.assertInvariants();
  }

  message(at: EmqpPort, who: string, command: EmqpToBroker): void {
    this.step({ kind: 'message', port: at, peer: peerNamed(who), command });
  }

  perform(each: Action): void {
    switch (each.do) {
      case 'inform':
        this.message(each.port, each.who, { kind: 'inform-worker', id: 'i', queues: each.queues });
        break;
      case 'scheduler':
        this.message(each.port, each.who, { kind: 'inform-scheduler', id: 'i' });
        break;
      case 'ready':
        this.message(each.port, each.who, { kind: 'ready', id: 'r' });
        break;
      case 'ask':
      case 'flood':
        for (let left = each.do === 'flood' ? 24 : 1; left > 0; left--) {
          const headers = encodeEmqpHeaders(each);
          const request = { kind: 'request', id: `m${this.#asked++}`, queue: each.queue, headers } as const;
          this.message('frontend', each.who, { ...request, body: fromLatin1(jobBody()) });
        }
        break;
      case 'answer': {
        const jobs = this.observer.jobsOf(`${each.port} ${each.who}`);
        const of = jobs[each.which % Math.max(jobs.length, 1)] ?? 'none';
        const named = each.named > 0 || jobs.length > 1;
        this.message(each.port, each.who, {
          kind: 'result',
          id: 'p',
          result: fromLatin1(of),
          of: named ? of : undefined,
        });
        break;
      }
      case 'say':
        if (each.kind === 'bye') this.message(each.port, each.who, { kind: 'bye', id: 'b', word: 'KBYE' });
        else this.message(each.port, each.who, { kind: 'heartbeat', id: 'h', time: '' });
        break;
      case 'fail':
        this.#fail(each.port, each.who, each.how);
        break;
      case 'schedule': {
        const body = fromLatin1(jobBody(`f${each.job}`));
        const rest = { queue: 'default', headers: new Uint8Array(0), interval: '2', body, cron: '' };
        this.message('frontend', 'c1', { kind: each.kind as 'schedule', id: 's', ...rest });
        break;
      }
      case 'wait':
        this.wait(each.ms, each.late === 0);
        break;
      case 'look': {
        const command = decodeEmqpAtAdminPort(framesOf('', 'eMQP/1.0', each.word, 'm'));
        this.step({ kind: 'admin', peer: peerNamed('a1'), command });
        break;
      }
      case 'dismiss':
        this.step({ kind: 'dismiss', worker: each.who, isGraceful: each.isGraceful });
        break;
      case 'retire':
        this.step({ kind: 'dismiss', queue: each.queue, isGraceful: each.isGraceful });
        break;
      case 'pause':
        this.step({ kind: 'pause', queue: each.queue, isPaused: each.isPaused });
        break;
      case 'purge':
        this.step({ kind: 'purge', queue: each.queue });
        break;
      case 'disconnect':
        this.message('frontend', 'stranger', { kind: 'disconnect', id: 'd' });
        break;
      default:
        this.step({ kind: 'drain' });
    }
  }

  /** Ends all pauses. */
  resume(): void {
    for (const name of ['default', 'a', 'b', 'c']) this.step({ kind: 'pause', queue: name, isPaused: false });
  }

  /** Advances time; timers come on time, or all at once at the end. */
  wait(ms: number, late = false): void {
    if (late) this.now += ms;
    passTime(this, this.engine, late ? 0 : ms);
  }

  #fail(at: EmqpPort, who: string, how: string): void {
    const peer = peerNamed(who);
    const command = this.#lastSent.get(`${at} ${who}`);
    if (how === 'gone') this.step({ kind: 'peer-gone', port: at, peer });
    else if (how === 'too-large') this.step({ kind: 'rejected', port: at, peer, reason: how });
    else if (command !== undefined) {
      this.#lastSent.delete(`${at} ${who}`);
      this.step({ kind: 'undeliverable', port: at, peer, command, reason: how as 'congested' });
    }
  }
}

function after(settings: EmqpBrokerOptions, actions: readonly Action[]): World {
  const world = new World(settings);
  for (const each of actions) world.perform(each);
  return world;
}

it('keeps its invariants and its rules, whatever happens', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 150, size: 'max' }), (settings, actions) => {
      after(settings, actions);
    }),
    { numRuns: 500 },
  );
});

it('comes to rest: no peer is left, and nothing runs or is awaited', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 80, size: 'max' }), (settings, actions) => {
      const world = after(settings, actions);
      world.resume();
      world.wait(5000);
      world.wait(5000);
      expect(world.engine.stats()).toMatchObject({
        workers: 0,
        schedulers: 0,
        leaving: 0,
        slots: 0,
        awaitedResults: 0,
      });
      expect(world.engine.stats().queues.every(({ name, inFlight }) => name === 'default' && inFlight === 0)).toBe(
        true,
      );
      expect(world.engine.deadline).toBe(Infinity);
    }),
    { numRuns: 250 },
  );
});

it('does everything it accepted when a working worker comes', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 80, size: 'max' }), (settings, actions) => {
      const world = after(
        settings,
        actions.filter((each) => each.do !== 'drain' && each.do !== 'disconnect'),
      );
      world.resume();
      world.wait(5000);
      world.wait(5000);
      const { openRequests } = world.engine.stats();
      world.message('backend', 'w9', { kind: 'inform-worker', id: 'i', queues: undefined });
      for (let i = 0; i < openRequests; i++) world.message('backend', 'w9', { kind: 'ready', id: 'r' });
      for (const of of [...world.observer.jobsOf('backend w9')]) {
        world.message('backend', 'w9', { kind: 'result', id: 'p', result: fromLatin1(of), of });
        world.message('backend', 'w9', { kind: 'ready', id: 'r' });
      }
      expect(world.engine.stats()).toMatchObject({ openRequests: 0, openBytes: 0 });
    }),
    { numRuns: 250 },
  );
});

it('is deterministic: equal events give equal effects', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 60, size: 'max' }), (settings, actions) => {
      expect(after(settings, actions).engine.stats()).toEqual(after(settings, actions).engine.stats());
    }),
    { numRuns: 50 },
  );
});

it('survives any frames from any peer', () => {
  const words = framesOf(
    ...['', 'eMQP/1.0', 'INFORM', 'READY', 'REQUEST', 'REPLY', 'SCHEDULE', 'KBYE', 'm', 'worker', 'scheduler'],
    ...['[[10, "a"]]', 'default', 'guarantee', jobBody(), '2'],
  );
  const id = 'dcdc6435-72a1-4c2b-97a1-a383ef355ca2';
  const guaranteed = fc
    .constantFrom('guarantee', 'guarantee,reply-requested')
    .map((headers) => framesOf('', 'eMQP/1.0', 'REQUEST', id, 'default', headers, jobBody()));
  const opened = arbitraries.messageOf(words).map((rest) => [...framesOf('', 'eMQP/1.0'), ...rest]);
  const frames = fc.oneof(
    arbitraries.message(),
    opened,
    guaranteed,
    arbitraries.emqpToBroker.map(encodeEmqp),
    arbitraries.mutated(arbitraries.emqpToBroker.map(encodeEmqp)),
  );
  fc.assert(
    fc.property(
      options,
      fc.array(fc.tuple(anybody, port, frames), { maxLength: 60, size: 'max' }),
      (settings, said) => {
        const engine = new EmqpBrokerEngine(emqpBrokerOptions.parse(settings), countingEntropy());
        for (const [at, [who, on, message]] of said.entries()) {
          const peer = peerNamed(who);
          const command = decodeEmqpAtBroker(message);
          const effects = engine.step({ kind: 'message', port: on, peer, command }, at);
          for (const effect of effects) if (effect.kind === 'send') encodeEmqp(effect.command);
          engine.step({ kind: 'admin', peer, command: decodeEmqpAtAdminPort(message) }, at);
          engine.assertInvariants();
        }
      },
    ),
    { numRuns: 1000 },
  );
});
