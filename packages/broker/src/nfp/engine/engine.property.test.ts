/** Any sequence of events, at any times: invariants hold, nothing is thrown, and no peer sees a broken rule. */
import { fromLatin1 } from '@proj/frames';
import { decodeNfpAtBroker, encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpCommand, NfpFromBroker, NfpToBroker } from '@proj/frames/nfp';
import { arbitraries, framesOf, passTime } from '@proj/testkit';
import type { TimerEvent } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { Observer } from '../../../test/nfp/observer.js';
import type { NfpBrokerEvent, NfpFileOutcome } from './events.js';
import { NfpBrokerEngine } from './engine.js';
import type { NfpInventory } from './management/inventory.js';
import { nfpBrokerOptions, type NfpBrokerOptions } from '../options.js';

const options: fc.Arbitrary<NfpBrokerOptions> = fc.record({
  keepaliveIntervalMs: fc.constantFrom(100, 300),
  keepaliveMultiplier: fc.integer({ min: 2, max: 4 }),
  dialect: fc.constantFrom('current' as const, 'legacy' as const),
  queueForService: fc.constantFrom('known' as const, 'known' as const, true, false),
  settleMs: fc.constantFrom(0, 300),
  returnMs: fc.constantFrom(0, 100, 1000),
  maxAttempts: fc.integer({ min: 0, max: 2 }),
  requestTtlMs: fc.constantFrom(50, 500, 5000),
  requestQueueMax: fc.integer({ min: 1, max: 4 }),
  requestQueueMaxBytes: fc.constantFrom(700, 2000, 1_000_000),
  redispatchAny: fc.boolean(),
  jobsMax: fc.integer({ min: 1, max: 6 }),
  servicesMax: fc.integer({ min: 1, max: 4 }),
  workersMax: fc.integer({ min: 1, max: 5 }),
  clientsMax: fc.integer({ min: 1, max: 3 }),
  managementCommands: fc.boolean(),
  publish: fc.option(fc.constant('tcp://sim:5556'), { nil: undefined }),
  files: fc.option(fc.constant('/srv/files'), { nil: undefined }),
  fileRequestsMax: fc.integer({ min: 1, max: 3 }),
});

const worker = fc.constantFrom('w1', 'w2', 'w3', 'w4', 'both');
const client = fc.constantFrom('c1', 'c2', 'c3', 'both');
/** Peers of the management endpoint: their keys belong to no other peer. */
const manager = fc.constantFrom('m1', 'm2');
const form = fc.constantFrom('ascii' as const, 'byte' as const);
const service = fc.constantFrom('a', 'a', 'b', 'c');
const uuid = fc.constantFrom('u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8');
const body = framesOf('{}');

const anyService = fc.constantFrom('a', 'a', 'b', 'c', 'all', 'mmi.service.worker', 'sid.service.broker');
const target = fc.constantFrom('all', 'any', 'any', '', 'w1', 'w1,w2', '["w1","w3"]', '[]', '[');
const task = fc.constantFrom(
  ...['show_broker', 'show_workers', 'show_clients', 'show_services', 'show_broker_version', 'show_broker_inventory'],
  ...['restart', 'disconnect', 'shutdown', 'no_such_task'],
);

/** Calls to services of the broker, valid and invalid ones. */
const ownTask = fc.oneof(
  fc.record({
    service: fc.constant('mmi.service.broker'),
    task,
    kwargs: fc.record(
      { workers: fc.constantFrom<unknown>(['w1', 'w2'], 7, null), service: fc.constantFrom<unknown>('a', 'b', 7) },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    service: fc.constant('sid.service.broker'),
    task: fc.constantFrom('get_inventory', 'get_inventory', 'no_such_task'),
    kwargs: fc.record({ name: fc.constantFrom<unknown>('w1', 'w2', '', 7) }, { requiredKeys: [] }),
  }),
  fc.record({
    service: fc.constant('fss.service.broker'),
    task: fc.constantFrom('list_files', 'file_details', 'walk', 'fetch_file', 'fetch_file', 'no_such_task'),
    kwargs: fc.record(
      {
        url: fc.constantFrom<unknown>('nf://a', 'nf://a', 'nf://../b', 'a', 7),
        offset: fc.constantFrom<unknown>(0, 5, -1, '0'),
        chunk_size: fc.constantFrom<unknown>(1, 5, 0, '1'),
      },
      { requiredKeys: [] },
    ),
  }),
);
const ownCall: fc.Arbitrary<NfpToBroker> = fc
  .tuple(
    ownTask,
    form,
    uuid,
    fc.constantFrom('post', 'get', 'mmi', 'mmi', 'put', 'delete'),
    fc.integer({ max: 9, min: 0 }),
  )
  .map(([{ service: name, ...asked }, form_, uuid_, command, broken]) => ({
    kind: 'client-call',
    form: form_,
    command,
    service: name,
    target: 'all',
    uuid: uuid_,
    body: broken === 0 ? framesOf('{') : encodeNfpJson(asked),
  }));

/** What peers send. */
const message: fc.Arbitrary<readonly [string, NfpToBroker]> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(worker, fc.record({ kind: fc.constant('worker-ready' as const), form, service })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(worker, fc.record({ kind: fc.constant('worker-keepalive' as const), form, service })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      worker,
      fc.record({ kind: fc.constant('worker-disconnect' as const), form, service, body: fc.constant([]) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(worker, fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 5 }))).map(
      ([who, [interval, multiplier]]) =>
        [
          who,
          {
            kind: 'worker-open',
            form: 'ascii',
            body: encodeNfpJson({ name: who, version: '1', keepalive: { interval, multiplier } }),
          },
        ] as const,
    ),
  },
  {
    weight: 10,
    arbitrary: fc.tuple(
      client,
      fc.record({
        kind: fc.constant('client-call' as const),
        form,
        command: fc.constantFrom('post', 'post', 'post', 'get', 'delete', 'put', 'mmi'),
        service: anyService,
        target,
        uuid,
        body: fc.constant(body),
      }),
    ),
  },
  { weight: 3, arbitrary: fc.tuple(client, ownCall) },
  {
    weight: 8,
    arbitrary: fc.tuple(
      worker,
      fc.record({
        kind: fc.constant('worker-answer' as const),
        form,
        command: fc.constantFrom('response', 'response', 'event', 'stream', 'mmi'),
        client: client.map(fromLatin1),
        uuid,
        status: fc.constantFrom(200, 201, 300, 404),
        body: fc.constant(body),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(
      worker,
      fc.record({
        kind: fc.constant('worker-table-answer' as const),
        form,
        command: fc.constantFrom('response', 'event', 'mmi'),
        service,
        uuid,
        status: fc.constant(200),
        body: fc.constant(body),
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.oneof(worker, client),
      fc.record({
        kind: fc.constant('malformed' as const),
        reason: fc.constantFrom('command', 'shape', 'status', 'header'),
        side: fc.constantFrom('client', 'worker', 'unknown'),
      }),
    ),
  },
);

const outcome: fc.Arbitrary<NfpFileOutcome> = fc.oneof(
  fc.constant({ kind: 'names' as const, names: ['a', 'b'] }),
  fc.constant({ kind: 'details' as const, size: 3, md5: '0' }),
  fc.constant({ kind: 'bytes' as const, bytes: fromLatin1('abc') }),
  fc.record({ kind: fc.constant('absent' as const), escape: fc.boolean() }),
  fc.constant({ kind: 'failed' as const, error: 'disk' }),
);

const entry = fc.record({
  glob: fc.constantFrom('*', 'w1', 'w[12]', '?'),
  source: fc.constant('(inline)'),
  data: fc.constantFrom({ a: 1 }, { a: { b: [1] } }, { a: { b: [2] }, c: null }),
});
const inventory: fc.Arbitrary<NfpInventory> = fc.record({
  broker: fc.constant({}),
  topology: fc.constant(null),
  workers: fc.array(entry, { maxLength: 3 }),
});

type Action =
  | { readonly do: 'say'; readonly what: readonly [string, NfpToBroker] }
  /** At the management endpoint. */
  | { readonly do: 'manage'; readonly what: readonly [string, NfpToBroker] }
  /** The end of the pending file request that is this many after the oldest, or a repeated end of the last one. */
  | { readonly do: 'read'; readonly index: number; readonly outcome: NfpFileOutcome }
  | { readonly do: 'start' }
  | { readonly do: 'load'; readonly inventory: NfpInventory }
  | { readonly do: 'fail'; readonly who: string; readonly how: 'gone' | 'unreachable' | 'congested' | 'too-large' }
  | { readonly do: 'wait'; readonly ms: number; readonly late: boolean }
  | { readonly do: 'dismiss'; readonly who: string; readonly isGraceful: boolean }
  | { readonly do: 'retire'; readonly service: string; readonly isGraceful: boolean }
  | { readonly do: 'drain' };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 300, arbitrary: fc.record({ do: fc.constant('say' as const), what: message }) },
  {
    weight: 25,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      who: fc.oneof(worker, client),
      how: fc.constantFrom('gone' as const, 'unreachable' as const, 'congested' as const, 'too-large' as const),
    }),
  },
  {
    weight: 50,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 400 }),
      late: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('manage' as const),
      what: fc.oneof(
        fc.tuple(manager, ownCall),
        fc.tuple(
          manager,
          message.map(([, said]) => said),
        ),
      ),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('read' as const), index: fc.integer({ min: 0, max: 3 }), outcome }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('load' as const), inventory }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('start' as const) }) },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('dismiss' as const), who: worker, isGraceful: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retire' as const), service, isGraceful: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const) }) },
);

/** An engine with its observer, to which peers do what the actions say. */
class World {
  readonly engine: NfpBrokerEngine;
  readonly observer: Observer;
  now = 0;
  /** Everything that was ever sent, to compare runs. */
  readonly transcript: string[] = [];
  readonly #lastSent = new Map<string, NfpFromBroker>();
  #lastRead = 0;

  constructor(settings: NfpBrokerOptions) {
    const parsed = nfpBrokerOptions.parse(settings);
    this.engine = new NfpBrokerEngine(parsed);
    this.observer = new Observer(parsed);
  }

  step(event: NfpBrokerEvent | TimerEvent): void {
    const effects = this.engine.step(event, this.now);
    for (const effect of effects) {
      this.transcript.push(`${this.now} ${JSON.stringify(effect)}`);
      if (effect.kind !== 'send') continue;
      encodeNfp(effect.command);
      this.#lastSent.set(effect.peer.key, effect.command);
    }
    this.observer.observe(event, effects, this.now);
    this.engine.assertInvariants();
  }

  perform(action: Action): void {
    switch (action.do) {
      case 'say': {
        const [who, command] = action.what;
        this.step({ kind: 'message', peer: peerNamed(who), command });
        break;
      }
      case 'manage': {
        const [who, command] = action.what;
        this.step({ kind: 'message', at: 'management', peer: peerNamed(who), command });
        break;
      }
      case 'read': {
        const id = this.observer.reading[action.index] ?? this.#lastRead;
        this.#lastRead = id;
        this.step({ kind: 'file-answer', id, outcome: action.outcome });
        break;
      }
      case 'start':
        this.step({ kind: 'started' });
        break;
      case 'load':
        this.step({ kind: 'inventory', inventory: action.inventory });
        break;
      case 'fail':
        this.#fail(action.who, action.how);
        break;
      case 'wait':
        this.wait(action.ms, action.late);
        break;
      case 'dismiss':
        this.step({ kind: 'dismiss', worker: action.who, isGraceful: action.isGraceful });
        break;
      case 'retire':
        this.step({ kind: 'dismiss', service: action.service, isGraceful: action.isGraceful });
        break;
      case 'drain':
        this.step({ kind: 'drain' });
        break;
    }
  }

  wait(ms: number, late = false): void {
    if (late) this.now += ms;
    passTime(this, this.engine, late ? 0 : ms);
  }

  #fail(who: string, how: (Action & { do: 'fail' })['how']): void {
    const peer = peerNamed(who);
    if (how === 'gone') this.step({ kind: 'peer-gone', peer });
    else if (how === 'too-large') this.step({ kind: 'rejected', peer, reason: how });
    else {
      const command = this.#lastSent.get(who);
      if (command !== undefined) this.step({ kind: 'undeliverable', peer, command, reason: how });
    }
  }
}

it('keeps its invariants and its rules, whatever happens', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 150, size: 'max' }), (settings, actions) => {
      const world = new World(settings);
      for (const each of actions) world.perform(each);
    }),
    { numRuns: 500 },
  );
});

it('comes to rest: no worker, no waiting job, no kept body', () => {
  fc.assert(
    fc.property(options, fc.array(action, { maxLength: 80, size: 'max' }), (settings, actions) => {
      const world = new World(settings);
      for (const each of actions) world.perform(each);
      for (const id of world.observer.reading)
        world.step({ kind: 'file-answer', id, outcome: { kind: 'absent', escape: false } });
      world.wait(60_000);
      world.wait(60_000);
      expect(world.engine.stats()).toMatchObject({ workers: 0, waiting: 0, keptBytes: 0, services: [] });
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
      expect(one.transcript).toEqual(two.transcript);
    }),
    { numRuns: 50 },
  );
});

it('survives any frames from any peer', () => {
  const words = framesOf(
    ...['', 'NFPC01', 'NFPW01', '0x00', '0x01', '0x04', '0x05', '0x06', '0x11', 'a', 'w1', 'c1', 'any', '200', '{}'],
    ...['mmi.service.broker', '{"task":"show_clients"}', 0, 1, 4, 5, 0x11],
  );
  const opening = fc.constantFrom(framesOf('', 'NFPC01'), framesOf('', 'NFPW01'), []);
  const frames = fc.oneof(
    arbitraries.message(),
    fc.tuple(opening, arbitraries.messageOf(words)).map(([head, rest]) => [...head, ...rest]),
    arbitraries.mutated(arbitraries.nfpToBroker.map((command) => encodeNfp(command as NfpCommand))),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(worker, client), frames), { maxLength: 60, size: 'max' }), (said) => {
      const world = new World({ keepaliveIntervalMs: 100 });
      for (const [who, message_] of said) {
        const command = decodeNfpAtBroker(message_);
        const effects = world.engine.step({ kind: 'message', peer: peerNamed(who), command }, world.now++);
        for (const effect of effects) if (effect.kind === 'send') encodeNfp(effect.command);
        world.engine.assertInvariants();
      }
    }),
    { numRuns: 1000 },
  );
});
