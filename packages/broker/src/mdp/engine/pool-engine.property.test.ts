/** Any sequence of events, at any time: every call ends once, its replies are its own, and nothing is remembered. */
import { fromLatin1, latin1 } from '@proj/frames';
import { encodeMdp } from '@proj/frames/mdp';
import { passTime } from '@proj/testkit';
import type { TimerEvent } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { MdpPoolEngine } from './pool-engine.js';
import { mdpPoolOptions, type MdpPoolOptions } from '../options.js';
import type { MdpPoolEvent } from './events.js';

const options: fc.Arbitrary<MdpPoolOptions> = fc.record({
  heartbeatIntervalMs: fc.constant(100),
  liveness: fc.integer({ min: 2, max: 4 }),
  muteExpiryMs: fc.constantFrom(400, 2000),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  resendAfterPartial: fc.boolean(),
  requestQueueMax: fc.integer({ min: 1, max: 5 }),
  servicesMax: fc.integer({ min: 1, max: 3 }),
  workersMax: fc.integer({ min: 1, max: 3 }),
  drainMs: fc.constantFrom(0, 100),
});

const who = fc.constantFrom('w1', 'w2', 'w3');
type Version = '0.1' | '0.2';

type Action =
  | { readonly do: 'ready'; readonly who: string; readonly service: string; readonly version: Version }
  | { readonly do: 'request'; readonly service: string; readonly timeoutMs: number }
  | { readonly do: 'answer'; readonly who: string; readonly last: boolean }
  | { readonly do: 'abort'; readonly back: number }
  | { readonly do: 'beat' | 'gone' | 'leave'; readonly who: string }
  | { readonly do: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly do: 'drain' };

const service = fc.constantFrom('a', 'a', 'b', 'c');
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('ready' as const),
      who,
      service,
      version: fc.constantFrom<Version>('0.1', '0.2'),
    }),
  },
  {
    weight: 60,
    arbitrary: fc.record({ do: fc.constant('request' as const), service, timeoutMs: fc.constantFrom(50, 500, 5000) }),
  },
  { weight: 60, arbitrary: fc.record({ do: fc.constant('answer' as const), who, last: fc.boolean() }) },
  { weight: 15, arbitrary: fc.record({ do: fc.constant('abort' as const), back: fc.nat(8) }) },
  {
    weight: 30,
    arbitrary: fc.record({ do: fc.constantFrom('beat' as const, 'gone' as const, 'leave' as const), who }),
  },
  {
    weight: 30,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(300), late: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
);

/** An engine, workers that answer their last request, and a list of calls. */
class World {
  readonly engine: MdpPoolEngine;
  now = 0;
  /** Open calls, with their requests. */
  readonly open = new Map<number, string>();
  readonly #jobs = new Map<string, { readonly client: Uint8Array; readonly body: string }>();
  readonly #versions = new Map<string, Version>();
  #asked = 0;

  constructor(settings: MdpPoolOptions) {
    this.engine = new MdpPoolEngine(mdpPoolOptions.parse(settings));
  }

  step(event: MdpPoolEvent | TimerEvent): void {
    for (const effect of this.engine.step(event, this.now)) {
      switch (effect.kind) {
        case 'send':
          encodeMdp(effect.command);
          if (effect.command.kind !== 'worker-request') break;
          this.#jobs.set(effect.peer.key, {
            client: effect.command.client,
            body: latin1(effect.command.body[0] as Uint8Array),
          });
          break;
        case 'partial':
        case 'answer':
          // Workers repeat the request.
          expect(latin1(effect.body[0] as Uint8Array)).toBe(this.open.get(effect.id));
          if (effect.kind === 'answer') this.#end(effect.id);
          break;
        case 'fail':
          this.#end(effect.id);
          break;
        default:
      }
    }
    this.engine.assertInvariants();
  }

  perform(action: Action): void {
    switch (action.do) {
      case 'ready': {
        const { version } = action;
        this.#versions.set(action.who, version);
        const command = { kind: 'worker-ready', version, service: action.service } as const;
        this.step({ kind: 'message', peer: peerNamed(action.who), command });
        break;
      }
      case 'request': {
        const id = this.#asked++;
        this.open.set(id, `#${id}`);
        const { service: name, timeoutMs } = action;
        this.step({ kind: 'request', id, service: name, body: [fromLatin1(`#${id}`)], timeoutMs });
        break;
      }
      case 'answer':
        this.#answer(action.who, action.last);
        break;
      case 'abort': {
        const id = this.#asked - 1 - action.back;
        this.open.delete(id);
        this.step({ kind: 'abort', id });
        break;
      }
      case 'beat':
      case 'leave': {
        const kind = action.do === 'beat' ? 'heartbeat' : 'disconnect';
        const version = this.#versions.get(action.who) ?? '0.2';
        this.step({ kind: 'message', peer: peerNamed(action.who), command: { kind, version } });
        break;
      }
      case 'gone':
        this.step({ kind: 'peer-gone', peer: peerNamed(action.who) });
        break;
      case 'wait':
        this.wait(action.ms, action.late);
        break;
      case 'drain':
        this.step({ kind: 'drain' });
    }
  }

  wait(ms: number, late = false): void {
    if (late) this.now += ms;
    passTime(this, this.engine, late ? 0 : ms);
  }

  #answer(name: string, last: boolean): void {
    const job = this.#jobs.get(name);
    const version = this.#versions.get(name) ?? '0.2';
    if (job === undefined || (!last && version === '0.1')) return;
    const reply = { client: job.client, body: [fromLatin1(job.body)] };
    const command = last
      ? ({ kind: 'worker-final', version, ...reply } as const)
      : ({ kind: 'worker-partial', version: '0.2', ...reply } as const);
    this.step({ kind: 'message', peer: peerNamed(name), command });
  }

  #end(id: number): void {
    if (!this.open.delete(id)) throw new Error(`call ${id} ended twice, or after it was aborted`);
  }
}

it('every call ends once, with its own replies', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 100, size: 'max' }), (settings, actions) => {
      const world = new World(settings);
      for (const each of actions) world.perform(each);
      world.wait(20_000);
      expect(world.open.size).toBe(0);
      expect(world.engine.stats()).toMatchObject({
        clients: 0,
        openRequests: 0,
        openBytes: 0,
        services: [],
        workers: 0,
      });
      expect(world.engine.deadline).toBe(Infinity);
    }),
    { numRuns: 300 },
  );
});
