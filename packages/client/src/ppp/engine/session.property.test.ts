import { fromLatin1 } from '@proj/frames';
import { decodePppAtClient, encodePpp } from '@proj/frames/ppp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SessionRig } from '../../../test/ppp/session-rig.js';
import { LazyPirateSession } from './session.js';
import type { LazyPirateEffect, LazyPirateEvent, LazyPirateRequest } from './session.js';

const SOCKETS = 3;

/** Follows the effects like sockets and callers, and fails on any that neither could carry out. */
class World {
  readonly session = new LazyPirateSession({ endpoints: ['a', 'b'], sockets: SOCKETS, waitingMax: 4, idleMs: 50 });
  now = 0;
  /** Socket to the request that is open on it. */
  readonly sockets = new Map<number, LazyPirateRequest | undefined>();
  readonly calls = new Map<number, { readonly request: LazyPirateRequest; readonly tries: number; sends: number }>();
  #lastId = 0;

  request(timeoutMs: number, tries: number, mark: string): void {
    const id = ++this.#lastId;
    const [wanted] = fromLatin1(mark);
    const request = {
      content: [fromLatin1('q')],
      matches: (content: readonly Uint8Array[]) => content[0]?.[0] === wanted,
    };
    this.calls.set(id, { request, tries, sends: 0 });
    this.step({ kind: 'request', id, request, timeoutMs, tries, streaming: false });
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

  step(event: LazyPirateEvent | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    expect(this.session.stats.busy + this.session.stats.waiting).toBe(this.calls.size);
  }

  #perform(effect: LazyPirateEffect): void {
    switch (effect.kind) {
      case 'open':
        expect(this.sockets.has(effect.socket)).toBe(false);
        this.sockets.set(effect.socket, undefined);
        expect(this.sockets.size).toBeLessThanOrEqual(SOCKETS);
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
        break;
      }
      case 'partial':
        throw new Error('there are no partial replies');
      case 'final': {
        const { request } = this.calls.get(effect.id)!;
        expect(effect.reply.hops).toEqual([]);
        expect(request.matches?.(effect.reply.content)).toBe(true);
        for (const [socket, open] of this.sockets) if (open === request) this.sockets.set(socket, undefined);
        this.calls.delete(effect.id);
        break;
      }
      case 'fail':
        expect(effect.attempts.endpoints).toHaveLength(this.calls.get(effect.id)!.sends);
        this.calls.delete(effect.id);
        break;
      case 'note':
        break;
    }
  }
}

const pick = fc.nat({ max: 9 });
const mark = fc.constantFrom('1', '2');
const received = fc.oneof(
  {
    weight: 3,
    arbitrary: mark.map((text) => [new Uint8Array(0), fromLatin1(text)]),
  },
  { weight: 1, arbitrary: arbitraries.pppClientReply.map(encodePpp) },
  { weight: 1, arbitrary: arbitraries.message() },
);

type Action = (world: World) => void;
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3 }), mark).map(
      ([timeoutMs, tries, text]): Action =>
        (world) =>
          world.request(timeoutMs, tries, text),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(pick, received).map(
      ([socket, frames]): Action =>
        (world) =>
          world.step({ kind: 'message', socket: world.socket(socket), message: decodePppAtClient(frames) }),
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
  fc.tuple(pick, fc.constantFrom('lost' as const, 'refused' as const, 'rejected' as const)).map(
    ([socket, kind]): Action =>
      (world) =>
        world.step({ kind, socket: world.socket(socket), cause: 'x', reason: 'too-large' }),
  ),
  pick.map(
    (call): Action =>
      (world) =>
        world.abort(call),
  ),
);

it('whatever happens: sockets carry one request, calls end once, and only with a reply that matches', () => {
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

const reply = { kind: 'client-reply', hops: [], content: [fromLatin1('r')] } as const;
const hostile = fc
  .oneof(
    arbitraries.message(),
    arbitraries.messageOf(['', 'hop', 'r'].map(fromLatin1)),
    arbitraries.pppClientReply.map(encodePpp),
    arbitraries.mutated(fc.constant(encodePpp(reply))),
  )
  // A message that happens to be a reply is not this test's business.
  .filter((frames) => frames[0]?.length !== 0 || frames.length < 2);

it('rule 4: whatever bytes a queue sends, invalid replies are dropped and counted, and the reply still arrives', () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 20 }), (messages) => {
      const rig = new SessionRig();
      rig.request(1);
      for (const frames of messages)
        expect(rig.receive(1, frames)).toEqual([expect.stringMatching('note message-dropped')]);
      const dropped = Object.values(rig.session.stats.dropped).reduce((sum, count) => sum + count, 0);
      expect(dropped).toBe(messages.length);
      expect(rig.reply(1, 'r')).toEqual(['final 1 r']);
    }),
    { numRuns: 2000 },
  );
});
