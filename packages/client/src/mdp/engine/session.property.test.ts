import { fromLatin1 } from '@proj/frames';
import { decodeMdpAtClient, encodeMdp } from '@proj/frames/mdp';
import type { MdpToClient } from '@proj/frames/mdp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { body, SessionRig } from '../../../test/mdp/session-rig.js';
import { MdpClientSession } from './session.js';
import type { MdpClientEffect, MdpClientEvent } from './session.js';

const SOCKETS = 3;
const WAITING_MAX = 4;

/** Follows the effects like a socket layer and a caller, and fails on any that neither could carry out. */
class World {
  readonly session = new MdpClientSession({
    endpoints: ['a', 'b'],
    sockets: SOCKETS,
    waitingMax: WAITING_MAX,
    idleMs: 50,
  });
  now = 0;
  /** Socket to the request open on it, and its call. */
  readonly sockets = new Map<number, object | undefined>();
  readonly calls = new Map<
    number,
    { readonly request: object; readonly tries: number; sends: number; partials: number }
  >();
  #lastId = 0;

  request(service: string, timeoutMs: number, tries: number, streaming: boolean): void {
    const id = ++this.#lastId;
    const request = { kind: 'client-request', version: '0.2', service, body: body('q') } as const;
    this.calls.set(id, { request, tries, sends: 0, partials: 0 });
    this.step({ kind: 'request', id, request, timeoutMs, tries, streaming });
  }

  abort(pick: number): void {
    const id = [...this.calls.keys()][pick % Math.max(this.calls.size, 1)] ?? 0;
    this.calls.delete(id);
    this.step({ kind: 'abort', id });
  }

  /** A socket that is open, or one that was or never will be. */
  socket(pick: number): number {
    return [...this.sockets.keys()][pick % (SOCKETS + 1)] ?? pick;
  }

  advance(ms: number, lateMs: number): void {
    passTime(this, this.session, ms, lateMs);
  }

  step(event: MdpClientEvent | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    expect(this.sockets.size).toBeLessThanOrEqual(SOCKETS);
    expect(this.session.stats.busy + this.session.stats.waiting).toBe(this.calls.size);
  }

  #perform(effect: MdpClientEffect): void {
    switch (effect.kind) {
      case 'open':
        expect(this.sockets.has(effect.socket)).toBe(false);
        this.sockets.set(effect.socket, undefined);
        break;
      case 'close':
        expect(this.sockets.delete(effect.socket)).toBe(true);
        break;
      case 'send': {
        expect(this.sockets.has(effect.socket)).toBe(true);
        expect(this.sockets.get(effect.socket)).toBeUndefined();
        this.sockets.set(effect.socket, effect.request);
        const call = [...this.calls.values()].find(({ request }) => request === effect.request)!;
        expect(++call.sends).toBeLessThanOrEqual(call.tries);
        expect(call.partials).toBe(0);
        break;
      }
      case 'partial':
        this.calls.get(effect.id)!.partials++;
        break;
      case 'final': {
        const { request } = this.calls.get(effect.id)!;
        for (const [socket, open] of this.sockets) if (open === request) this.sockets.set(socket, undefined);
        this.calls.delete(effect.id);
        break;
      }
      case 'fail': {
        const { sends } = this.calls.get(effect.id)!;
        expect(effect.attempts.endpoints).toHaveLength(sends);
        this.calls.delete(effect.id);
        break;
      }
      case 'note':
        break;
    }
  }
}

const service = fc.constantFrom('s', 't');
const pick = fc.nat({ max: 9 });
const message: fc.Arbitrary<MdpToClient> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('client-partial' as const, 'client-final' as const),
    version: fc.constant('0.2' as const),
    service,
    body: fc.constant(body('r')),
  }),
  fc.constant({ kind: 'malformed', reason: 'no-body', side: 'client' } as const),
);

type Action = (world: World) => void;
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(service, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3 }), fc.boolean()).map(
      ([name, timeoutMs, tries, streaming]): Action =>
        (world) =>
          world.request(name, timeoutMs, tries, streaming),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(pick, message).map(
      ([socket, said]): Action =>
        (world) =>
          world.step({ kind: 'message', socket: world.socket(socket), message: said }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat({ max: 80 }), fc.constantFrom(0, 0, 1, 30)).map(
      ([ms, lateMs]): Action =>
        (world) =>
          world.advance(ms, lateMs),
    ),
  },
  pick.map(
    (socket): Action =>
      (world) =>
        world.step({ kind: 'lost', socket: world.socket(socket) }),
  ),
  pick.map(
    (socket): Action =>
      (world) =>
        world.step({ kind: 'refused', socket: world.socket(socket), cause: 'x' }),
  ),
  pick.map(
    (socket): Action =>
      (world) =>
        world.step({ kind: 'rejected', socket: world.socket(socket), reason: 'too-large' }),
  ),
  pick.map(
    (call): Action =>
      (world) =>
        world.abort(call),
  ),
);

it('whatever happens: records agree, sockets carry one request, every call ends exactly once', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), fc.boolean(), (actions, close) => {
      const world = new World();
      for (const act of actions) act(world);
      if (close) world.step({ kind: 'close' });
      else world.advance(100_000, 0);
      expect(world.calls.size).toBe(0);
      expect(world.sockets.size).toBe(0);
      expect(world.session.deadline).toBe(Infinity);
    }),
    { numRuns: 1000 },
  );
});

const words = ['', 'MDPC02', 'MDPC01', 'MDPW02', '\x01', '\x02', '\x03', 'victim', 'echo'].map(fromLatin1);
const reply = { kind: 'client-final', version: '0.2', service: 'victim', body: body('r') } as const;
const hostile = fc
  .oneof(
    arbitraries.message(),
    arbitraries.messageOf(words),
    arbitraries.mdpToClient.map((command) => encodeMdp(command)),
    arbitraries.mutated(fc.constant(encodeMdp(reply))),
  )
  .map((frames) => decodeMdpAtClient(frames))
  // A message that happens to be a reply to the request is not this test's business.
  .filter((said) => said.kind === 'malformed' || said.version !== '0.2' || said.service !== 'victim');

it('rule 3: whatever bytes a broker sends, invalid replies are dropped and counted, and the reply still arrives', () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 20 }), (messages) => {
      const rig = new SessionRig();
      rig.request(1, { service: 'victim' });
      for (const said of messages)
        expect(rig.message(1, said)).toEqual([expect.stringMatching('note message-dropped')]);
      const dropped = Object.values(rig.session.stats.dropped).reduce((sum, count) => sum + count, 0);
      expect(dropped).toBe(messages.length);
      expect(rig.message(1, reply)).toEqual(['final 1 r']);
    }),
    { numRuns: 2000 },
  );
});
