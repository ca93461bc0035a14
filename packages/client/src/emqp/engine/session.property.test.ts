import { fromLatin1 } from '@proj/frames';
import { decodeEmqpAtClient } from '@proj/frames/emqp';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EmqpClientEffect, EmqpClientEvent } from './events.js';
import { EmqpClientSession } from './session.js';

const OPEN_MAX = 6;
const EMPTY = fromLatin1('');

/** Follows the effects like sockets and callers, and fails on any that neither could carry out. */
class World {
  readonly session = new EmqpClientSession<string>({
    endpoints: ['a', 'b'],
    openMax: OPEN_MAX,
    timeoutMs: 50,
    resultTimeoutMs: 200,
  });
  now = 0;
  readonly sockets = new Set<number>();
  /** Tickets without an outcome, and what they wait for. */
  readonly open = new Map<string, 'taken' | 'result'>();
  readonly sent = new Set<string>();
  readonly mayRepeat = new Set<string>();
  readonly wantsResult = new Set<string>();
  #lastId = 0;

  order(kind: 'request' | 'schedule', wantsResult: boolean, mayRepeat = false): void {
    const id = `${++this.#lastId}`;
    if (mayRepeat) this.mayRepeat.add(id);
    this.open.set(id, 'taken');
    if (wantsResult) this.wantsResult.add(id);
    const rest = { id, queue: 'q', headers: EMPTY, body: EMPTY };
    const command = kind === 'request' ? { kind, ...rest } : { kind, ...rest, interval: '1', cron: '' };
    this.step({ kind: 'order', order: { ticket: id, command, wantsResult, mayRepeat } });
  }

  anyId(pick: number): string {
    return [...this.open.keys()][pick % Math.max(this.open.size, 1)] ?? 'nobody';
  }

  anySocket(pick: number): number {
    return [...this.sockets][pick % Math.max(this.sockets.size, 1)] ?? 0;
  }

  abort(pick: number): void {
    const id = this.anyId(pick);
    this.open.delete(id);
    this.step({ kind: 'abort', id });
  }

  advance(ms: number, lateMs: number): void {
    passTime(this, this.session, ms, lateMs);
  }

  step(event: EmqpClientEvent<string> | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    const { untaken, awaitingResult } = this.session.stats;
    expect(untaken + awaitingResult).toBe(this.open.size);
    expect(this.open.size).toBeLessThanOrEqual(OPEN_MAX);
  }

  #perform(effect: EmqpClientEffect<string>): void {
    switch (effect.kind) {
      case 'open':
        expect(this.sockets.has(effect.socket)).toBe(false);
        this.sockets.add(effect.socket);
        break;
      case 'close':
        expect(this.sockets.delete(effect.socket)).toBe(true);
        break;
      case 'send':
        expect(this.sockets).toContain(effect.socket);
        if (!this.mayRepeat.has(effect.command.id)) expect(this.sent).not.toContain(effect.command.id);
        expect([...this.open.keys()]).toContain(effect.command.id);
        this.sent.add(effect.command.id);
        break;
      case 'taken':
        expect(this.open.get(effect.ticket)).toBe('taken');
        if (this.wantsResult.has(effect.ticket)) this.open.set(effect.ticket, 'result');
        else this.open.delete(effect.ticket);
        break;
      case 'result':
        expect(this.open.get(effect.ticket)).toBe('result');
        this.open.delete(effect.ticket);
        break;
      case 'failed':
        expect(this.open.delete(effect.ticket)).toBe(true);
        break;
      case 'bye':
      case 'note':
        break;
    }
  }
}

type Action = (world: World) => void;
const pick = fc.nat({ max: 9 });
const picks = fc.tuple(pick, pick);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.boolean(), fc.boolean()).map(
      ([wantsResult, mayRepeat]): Action =>
        (world) =>
          world.order('request', wantsResult, mayRepeat),
    ),
  },
  fc.constant<Action>((world) => world.order('schedule', false)),
  {
    weight: 4,
    arbitrary: picks.map(([id, socket]): Action => (world) => {
      const message = { kind: 'accepted', id: 'x', of: world.anyId(id) } as const;
      world.step({ kind: 'message', socket: world.anySocket(socket), message });
    }),
  },
  {
    weight: 3,
    arbitrary: picks.map(([id, socket]): Action => (world) => {
      const message = { kind: 'result', id: 'x', result: EMPTY, of: world.anyId(id) } as const;
      world.step({ kind: 'message', socket: world.anySocket(socket), message });
    }),
  },
  pick.map(
    (which): Action =>
      (world) =>
        world.abort(which),
  ),
  {
    weight: 4,
    arbitrary: fc.tuple(fc.nat({ max: 120 }), fc.constantFrom(0, 0, 1, 60)).map(
      ([ms, lateMs]): Action =>
        (world) =>
          world.advance(ms, lateMs),
    ),
  },
  fc.tuple(pick, fc.constantFrom('lost' as const, 'refused' as const)).map(
    ([socket, kind]): Action =>
      (world) =>
        world.step({ kind, socket: world.anySocket(socket), cause: 'x' }),
  ),
  fc.tuple(pick, pick, fc.constantFrom('sent' as const, 'unsent' as const)).map(
    ([id, socket, kind]): Action =>
      (world) =>
        world.step({ kind, id: world.anyId(id), socket: world.anySocket(socket) }),
  ),
  fc.tuple(pick, arbitraries.message()).map(([socket, frames]): Action => (world) => {
    world.step({ kind: 'message', socket: world.anySocket(socket), message: decodeEmqpAtClient(frames) });
  }),
);

it('whatever happens, a command is sent at most once, unless it may run twice, and ends once, and no socket is left', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), fc.boolean(), (actions, close) => {
      const world = new World();
      for (const act of actions) act(world);
      if (close) world.step({ kind: 'close' });
      else world.advance(100_000, 0);
      expect(world.open.size).toBe(0);
      expect(world.session.deadline).toBe(Infinity);
      expect(world.sockets.size).toBeLessThanOrEqual(close ? 0 : 1);
    }),
    { numRuns: 1000 },
  );
});
