/** Any sequence of events, at any time: the invariants hold, nothing is thrown, and no peer notices a broken rule. */
import { fromLatin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp, type MdpCommand, type MdpToBroker } from '@proj/frames/mdp';
import { arbitraries, passTime } from '@proj/testkit';
import type { TimerEvent } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { Observer } from '../../../test/mdp/observer.js';
import type { MdpBrokerEvent } from './events.js';
import { MdpBrokerEngine } from './engine.js';
import { mdpBrokerOptions, type MdpBrokerOptions } from '../options.js';

const INTERVAL_MS = 100;

const options: fc.Arbitrary<MdpBrokerOptions> = fc.record({
  heartbeatIntervalMs: fc.constant(INTERVAL_MS),
  liveness: fc.integer({ min: 2, max: 4 }),
  busyExpiryMs: fc.constantFrom(100, 300, 2000),
  muteExpiryMs: fc.constantFrom(2000, 5000),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  resendAfterPartial: fc.boolean(),
  bridge: fc.boolean(),
  acceptLeadingEmpty: fc.boolean(),
  requestTtlMs: fc.constantFrom(50, 500, 5000),
  busyTtlMs: fc.constantFrom(0, 50, 500),
  requestQueueMax: fc.integer({ min: 1, max: 6 }),
  requestQueueMaxBytes: fc.constantFrom(2048, 1_000_000),
  maxMessageBytes: fc.constant(1024),
  maxMessageFrames: fc.constant(8),
  clientRequestsMax: fc.integer({ min: 1, max: 5 }),
  servicesMax: fc.integer({ min: 1, max: 4 }),
  workersMax: fc.integer({ min: 1, max: 6 }),
  drainMs: fc.constantFrom(0, 100, 1000),
});

const worker = fc.constantFrom('w1', 'w2', 'w3', 'w4', 'w5', 'both');
const client = fc.constantFrom('c1', 'c2', 'c3', 'both');
const version = fc.constantFrom('0.1' as const, '0.2' as const, '0.2' as const);
const service = fc.constantFrom('a', 'a', 'b', 'mmi.service', 'c');

type Action =
  | { readonly do: 'ready'; readonly who: string; readonly service: string; readonly version: '0.1' | '0.2' }
  | { readonly do: 'ask'; readonly who: string; readonly service: string; readonly version: '0.1' | '0.2' }
  | { readonly do: 'answer'; readonly who: string; readonly kind: 'partial' | 'final'; readonly right: boolean }
  | { readonly do: 'say'; readonly who: string; readonly kind: 'heartbeat' | 'disconnect' }
  | { readonly do: 'fail'; readonly who: string; readonly how: 'gone' | 'unreachable' | 'congested' | 'too-large' }
  | { readonly do: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly do: 'own'; readonly pick: number; readonly how: 'partial' | 'final' | 'fail' }
  | { readonly do: 'serve'; readonly service: string; readonly concurrency: number; readonly versions: 1 | 2 }
  | { readonly do: 'withdraw'; readonly pick: number }
  | { readonly do: 'drain' };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 50, arbitrary: fc.record({ do: fc.constant('ready' as const), who: worker, service, version }) },
  { weight: 80, arbitrary: fc.record({ do: fc.constant('ask' as const), who: client, service, version }) },
  {
    weight: 80,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      who: worker,
      kind: fc.constantFrom('partial' as const, 'final' as const, 'final' as const),
      right: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    }),
  },
  {
    weight: 40,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      who: worker,
      kind: fc.constantFrom('heartbeat' as const, 'heartbeat' as const, 'disconnect' as const),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      who: fc.oneof(worker, client),
      how: fc.constantFrom('gone' as const, 'unreachable' as const, 'congested' as const, 'too-large' as const),
    }),
  },
  {
    weight: 40,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 400 }),
      late: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
  {
    weight: 40,
    arbitrary: fc.record({
      do: fc.constant('own' as const),
      pick: fc.nat(20),
      how: fc.constantFrom('partial' as const, 'final' as const, 'final' as const, 'fail' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('serve' as const),
      service: fc.constantFrom('a', 'b'),
      concurrency: fc.integer({ min: 1, max: 3 }),
      versions: fc.constantFrom(1 as const, 2 as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('withdraw' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
);

/** An engine with its observer, and mostly well-behaved peers that do what the actions say. */
class World {
  readonly engine: MdpBrokerEngine;
  readonly observer = new Observer(INTERVAL_MS);
  now = 0;
  readonly #lastSent = new Map<string, MdpCommand>();
  readonly #versions = new Map<string, '0.1' | '0.2'>();
  /** Services inside the broker, by number, and withdrawn ones whose handlers still run, by run. */
  readonly #serving = new Map<number, string>();
  readonly #leaving = new Map<number, string>();
  #served = 0;
  #asked = 0;

  constructor(settings: MdpBrokerOptions) {
    this.engine = new MdpBrokerEngine(mdpBrokerOptions.parse(settings));
  }

  step(event: MdpBrokerEvent | TimerEvent): void {
    const effects = this.engine.step(event, this.now);
    for (const effect of effects) {
      if (effect.kind !== 'send') continue;
      encodeMdp(effect.command);
      this.#lastSent.set(effect.peer.key, effect.command);
    }
    this.observer.observe(event, effects, this.now);
    this.engine.assertInvariants();
  }

  message(who: string, command: MdpToBroker): void {
    this.step({ kind: 'message', peer: peerNamed(who), command });
  }

  perform(action: Action): void {
    switch (action.do) {
      case 'ready':
        this.#versions.set(action.who, action.version);
        this.message(action.who, { kind: 'worker-ready', version: action.version, service: action.service });
        break;
      case 'ask': {
        const body = [fromLatin1(`${action.who}#${this.#asked++}`), ...longNowAndThen(this.#asked)];
        this.message(action.who, { kind: 'client-request', version: action.version, service: action.service, body });
        break;
      }
      case 'answer':
        this.#answer(action.who, action.kind, action.right);
        break;
      case 'say':
        this.message(action.who, { kind: action.kind, version: this.#versions.get(action.who) ?? '0.2' });
        break;
      case 'fail':
        this.#fail(action.who, action.how);
        break;
      case 'wait':
        this.wait(action.ms, action.late);
        break;
      case 'own':
        this.#own(action.pick, action.how);
        break;
      case 'serve':
        this.#serve(action.service, action.concurrency, action.versions);
        break;
      case 'withdraw': {
        const id = [...this.#serving.keys()][action.pick];
        if (id !== undefined) this.withdraw(id);
        break;
      }
      case 'drain':
        this.step({ kind: 'drain' });
    }
  }

  /** Withdraws all services inside the broker and ends their handlers. */
  end(): void {
    for (const id of this.#serving.keys()) this.withdraw(id);
    while (this.observer.runs.size > 0) this.#own(0, 'final');
  }

  withdraw(id: number): void {
    const name = this.#serving.get(id) as string;
    this.step({ kind: 'withdraw', service: id });
    this.#serving.delete(id);
    // As in the facade, the name is free again when the last handler has ended.
    for (const [run, { service }] of this.observer.runs) if (service === id) this.#leaving.set(run, name);
  }

  #serve(name: string, concurrency: number, versions: 1 | 2): void {
    if ([...this.#serving.values(), ...this.#leaving.values()].includes(name)) return;
    const id = ++this.#served;
    this.#serving.set(id, name);
    const spec = { id, name, concurrency, versions: (['0.2', '0.1'] as const).slice(0, versions) };
    this.step({ kind: 'serve', services: [spec] });
  }

  #own(pick: number, how: 'partial' | 'final' | 'fail'): void {
    const runs = [...this.observer.runs];
    const [run, { body: asked, version }] = runs[pick % runs.length] ?? [0, { body: 'c1#none', version: '0.2' }];
    const body = [fromLatin1(asked), ...longNowAndThen(this.#asked)];
    if (how === 'partial') {
      if (version === '0.2') this.step({ kind: 'own-partial', run, body });
      return;
    }
    this.#leaving.delete(run);
    this.step(how === 'final' ? { kind: 'own-final', run, body } : { kind: 'own-failed', run });
  }

  /** Advances time; timers come on time, or all at once at the end. */
  wait(ms: number, late = false): void {
    if (late) this.now += ms;
    passTime(this, this.engine, late ? 0 : ms);
  }

  #answer(who: string, kind: 'partial' | 'final', right: boolean): void {
    const body = this.observer.jobOf(who) ?? 'c1#none';
    const address = fromLatin1(right ? (body.split('#')[0] ?? '') : 'c9');
    const version = this.#versions.get(who) ?? '0.2';
    const reply = { client: address, body: [fromLatin1(body), ...longNowAndThen(this.#asked)] };
    if (kind === 'partial') this.message(who, { kind: 'worker-partial', version: '0.2', ...reply });
    else this.message(who, { kind: 'worker-final', version, ...reply });
  }

  #fail(who: string, how: 'gone' | 'unreachable' | 'congested' | 'too-large'): void {
    const peer = peerNamed(who);
    const command = this.#lastSent.get(who);
    if (how === 'gone') this.step({ kind: 'peer-gone', peer });
    else if (how === 'too-large') this.step({ kind: 'rejected', peer, reason: how });
    else if (command !== undefined) this.step({ kind: 'undeliverable', peer, command, reason: how });
  }
}

/** A body long enough to be released. */
function longNowAndThen(index: number): Uint8Array[] {
  return index % 4 === 0 ? [new Uint8Array(2 ** 14)] : [];
}

it('keeps its invariants and its rules whatever happens', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 150, size: 'max' }), (settings, actions) => {
      const world = new World(settings);
      for (const each of actions) world.perform(each);
    }),
    { numRuns: 400 },
  );
});

it('comes to rest: every accepted request is answered or given up, and nothing is remembered', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 80, size: 'max' }), (settings, actions) => {
      const world = new World(settings);
      for (const each of actions) world.perform(each);
      world.end();
      world.wait(60_000);
      world.wait(60_000);
      expect(world.engine.stats()).toMatchObject({
        workers: 0,
        clients: 0,
        openRequests: 0,
        openBytes: 0,
        services: [],
      });
      expect(world.engine.deadline).toBe(Infinity);
    }),
    { numRuns: 200 },
  );
});

it('is deterministic: equal events give equal effects', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 60, size: 'max' }), (settings, actions) => {
      const [one, two] = [new World(settings), new World(settings)];
      for (const each of actions) one.perform(each);
      for (const each of actions) two.perform(each);
      expect(one.engine.stats()).toEqual(two.engine.stats());
    }),
    { numRuns: 50 },
  );
});

it('survives any frames from any peer', () => {
  const words = [
    '',
    'MDPC02',
    'MDPW02',
    'MDPC01',
    'MDPW01',
    '\x01',
    '\x02',
    '\x03',
    '\x04',
    '\x05',
    '\x06',
    'a',
    'c1',
    'mmi.x',
  ];
  const frames = fc.oneof(
    arbitraries.message(),
    arbitraries.messageOf(words.map(fromLatin1)),
    arbitraries.mutated(arbitraries.mdpToBroker.map(encodeMdp)),
  );
  const speaker = fc.oneof(worker, client);
  fc.assert(
    fc.property(fc.boolean(), fc.array(fc.tuple(speaker, frames), { maxLength: 60, size: 'max' }), (tolerant, said) => {
      const world = new World({ heartbeatIntervalMs: INTERVAL_MS, bridge: tolerant });
      for (const [who, message] of said) {
        const command = decodeMdpAtBroker(message, { acceptLeadingEmpty: tolerant });
        const effects = world.engine.step({ kind: 'message', peer: peerNamed(who), command }, world.now++);
        for (const effect of effects) if (effect.kind === 'send') encodeMdp(effect.command);
        world.engine.assertInvariants();
      }
    }),
    { numRuns: 1000 },
  );
});
