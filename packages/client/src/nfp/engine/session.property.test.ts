import { decodeNfpAtClient, encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpClientAnswer } from '@proj/frames/nfp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NfpClientSession } from './session.js';
import type { NfpClientEffect, NfpClientEvent } from './events.js';

const OPEN_MAX = 5;
const UUIDS = ['u0', 'u1', 'u2', 'u3'];
const WORKERS = ['w0', 'w1', 'w2'];
const BODY = encodeNfpJson({ task: 't' });

/** Follows the effects like sockets and callers, and fails on any that neither could carry out. */
class World {
  readonly session: NfpClientSession<number>;
  now = 0;
  socket: number | undefined;
  /** Tickets without an outcome: what they are, and the workers whose last word has come. */
  readonly open = new Map<
    number,
    { readonly kind: 'job' | 'ask'; readonly uuid: string; readonly told: Set<string> }
  >();
  #lastTicket = 0;

  constructor(sendOpen: boolean) {
    this.session = new NfpClientSession<number>({
      endpoints: ['a', 'b'],
      commandForm: 'ascii',
      sendOpen,
      openTimeoutMs: 30,
      openBody: BODY,
      pollIntervalMs: 50,
      answerTimeoutMs: 120,
      reconnectMinMs: 10,
      reconnectMaxMs: 40,
      openMax: OPEN_MAX,
      openMaxBytes: 1_000_000,
      random: () => 0.5,
    });
  }

  job(uuid: string, target: string, resumed: boolean, workers: readonly string[]): void {
    const ticket = ++this.#lastTicket;
    this.open.set(ticket, { kind: 'job', uuid, told: new Set() });
    const rest = { service: 's', body: BODY, question: BODY, timeoutMs: 400, told: [] };
    this.step({ kind: 'job', order: { ticket, uuid, target, resumed, workers: resumed ? workers : [], ...rest } });
  }

  ask(uuid: string, from: 'broker' | 'workers', repeatable: boolean): void {
    const ticket = ++this.#lastTicket;
    this.open.set(ticket, { kind: 'ask', uuid, told: new Set() });
    const call = { command: 'get', service: 's', target: 'all', uuid, body: BODY } as const;
    this.step({ kind: 'ask', question: { ticket, call, from, repeatable, timeoutMs: 300 } });
  }

  abandon(kind: 'abort' | 'forget', uuid: string): void {
    for (const [ticket, order] of this.open)
      if (order.uuid === uuid && order.kind === (kind === 'abort' ? 'job' : 'ask')) this.open.delete(ticket);
    this.step({ kind, uuid });
  }

  advance(ms: number, lateMs: number): void {
    passTime(this, this.session, ms, lateMs);
  }

  step(event: NfpClientEvent<number> | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    const { jobs, questions } = this.session.stats;
    expect(jobs + questions).toBe(this.open.size);
    expect(this.open.size).toBeLessThanOrEqual(OPEN_MAX);
  }

  #perform(effect: NfpClientEffect<number>): void {
    switch (effect.kind) {
      case 'open':
        expect(this.socket).toBe(undefined);
        this.socket = effect.socket;
        break;
      case 'close':
        expect(effect.socket).toBe(this.socket);
        this.socket = undefined;
        break;
      case 'send':
        expect(effect.socket).toBe(this.socket);
        // Everything that is sent fits: no name, target or uuid is too long for the wire.
        encodeNfp(effect.command);
        break;
      case 'result': {
        const { told } = this.#job(effect.ticket);
        expect(told).not.toContain(effect.worker);
        told.add(effect.worker);
        break;
      }
      case 'taken':
        expect(this.#job(effect.ticket).told).not.toContain(effect.worker);
        break;
      case 'dispatched':
      case 'event':
      case 'stream':
      case 'input':
        this.#job(effect.ticket);
        break;
      case 'ended':
        expect(this.#job(effect.ticket).told.size).toBeGreaterThan(0);
        this.open.delete(effect.ticket);
        break;
      case 'answered':
        expect(effect.replies.length).toBeGreaterThan(0);
        expect(this.open.get(effect.ticket)?.kind).toBe('ask');
        this.open.delete(effect.ticket);
        break;
      case 'failed':
        expect(this.open.delete(effect.ticket)).toBe(true);
        break;
      case 'note':
        break;
    }
  }

  #job(ticket: number): { readonly told: Set<string> } {
    const order = this.open.get(ticket);
    expect(order?.kind).toBe('job');
    return order!;
  }
}

type Action = (world: World) => void;
const uuid = fc.constantFrom(...UUIDS);
const worker = fc.constantFrom(...WORKERS);
const workers = fc.uniqueArray(worker);
const target = fc.constantFrom('all', 'any', 'w1', '["w0","w1"]');

/** What brokers and workers say, in order or out of order. */
const said: fc.Arbitrary<Pick<NfpClientAnswer, 'status' | 'body'>> = fc.oneof(
  fc
    .tuple(workers, target, fc.constantFrom('DISPATCHED', 'PENDING', 'CANCELLED', 'FAILED'))
    .map(([names, to, status]) => ({
      status: { DISPATCHED: 202, PENDING: 300, CANCELLED: 200, FAILED: 400 }[status],
      body: encodeNfpJson({ workers: status === 'FAILED' ? null : names, uuid: 'x', target: to, status, service: 's' }),
    })),
  { weight: 3, arbitrary: worker.map((name) => ({ status: 200, body: encodeNfpJson({ [name]: { result: 1 } }) })) },
  fc.tuple(worker, fc.constantFrom(102, 200, 201, 202, 300, 400, 404, 500, 999)).map(([name, status]) => ({
    status,
    body: encodeNfpJson({ worker: name, status: 'X', input_request: { id: 'i' } }),
  })),
  fc
    .tuple(fc.constantFrom(200, 400, 404), fc.jsonValue())
    .map(([status, value]) => ({ status, body: encodeNfpJson(value) })),
);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(uuid, target, fc.boolean(), workers).map(
      ([id, to, resumed, names]): Action =>
        (world) =>
          world.job(id, to, resumed, names),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(uuid, fc.constantFrom('broker' as const, 'workers' as const), fc.boolean()).map(
      ([id, from, repeatable]): Action =>
        (world) =>
          world.ask(id, from, repeatable),
    ),
  },
  {
    weight: 12,
    arbitrary: fc
      .tuple(uuid, fc.constantFrom('response', 'response', 'response', 'mmi', 'event', 'stream'), said)
      .map(([id, command, { status, body }]): Action => (world) => {
        const message = {
          kind: 'client-answer',
          form: 'ascii',
          header: 'NFPB01',
          command,
          service: 's',
          uuid: id,
          status,
          body,
        };
        world.step({ kind: 'message', socket: world.socket ?? 0, message: message as NfpClientAnswer });
      }),
  },
  fc.tuple(uuid, fc.constantFrom('abort' as const, 'forget' as const)).map(([id, kind]): Action => (world) => {
    world.abandon(kind, id);
  }),
  fc.tuple(uuid, worker).map(([id, name]): Action => (world) => {
    world.step({ kind: 'put', uuid: id, worker: name, body: BODY, input: 'i' });
  }),
  {
    weight: 4,
    arbitrary: fc.tuple(fc.nat({ max: 150 }), fc.constantFrom(0, 0, 1, 60)).map(
      ([ms, lateMs]): Action =>
        (world) =>
          world.advance(ms, lateMs),
    ),
  },
  fc.constantFrom('lost' as const, 'refused' as const).map((kind): Action => (world) => {
    world.step({ kind, socket: world.socket ?? 0, cause: 'x' });
  }),
  uuid.map(
    (id): Action =>
      (world) =>
        world.step({ kind: 'unsent', socket: world.socket ?? 0, uuid: id }),
  ),
  fc.constant<Action>((world) => {
    const message = { kind: 'broker-open', form: 'ascii', header: 'NFPB01', body: BODY } as const;
    world.step({ kind: 'message', socket: world.socket ?? 0, message });
  }),
  arbitraries.message().map((frames): Action => (world) => {
    world.step({ kind: 'message', socket: world.socket ?? 0, message: decodeNfpAtClient(frames) });
  }),
);

it('rule 10: whatever a broker sends, every call ends once, each worker has one last word, and nothing is left', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), fc.boolean(), fc.boolean(), (actions, sendOpen, close) => {
      const world = new World(sendOpen);
      for (const act of actions) act(world);
      if (close) world.step({ kind: 'close' });
      else world.advance(100_000, 0);
      expect(world.open.size).toBe(0);
      expect(world.session.deadline).toBe(Infinity);
      expect(world.session.stats.bytes).toBe(0);
      if (close) expect(world.socket).toBe(undefined);
    }),
    { numRuns: 1500 },
  );
});
