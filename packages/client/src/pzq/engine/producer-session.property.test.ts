import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtProducer } from '@proj/frames/pzq';
import { arbitraries, passTime } from '@proj/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PzqProducerSession } from './producer-session.js';
import type { PzqProducerEffect, PzqProducerEvent } from './producer-events.js';

const WINDOW = 4;

/** Follows the effects like a socket and callers, and fails on any that neither could carry out. */
class World {
  readonly session = new PzqProducerSession<string>(
    { endpoints: ['a', 'b'], window: WINDOW, windowBytes: 30, waitingMax: 6, ackTimeoutMs: 50, timeoutMs: 1000 },
    () => 0.5,
  );
  now = 0;
  socket: number | undefined;
  /** Ids that were sent on the socket, in order, as often as they were sent. */
  sent: string[] = [];
  /** Ids without an outcome, in the order of `produce`. */
  readonly open = new Set<string>();
  readonly everSent = new Set<string>();
  #lastId = 0;

  produce(bytes: number): void {
    const ticket = `${++this.#lastId}`;
    this.open.add(ticket);
    const order = { ticket, id: fromLatin1(ticket), headers: [], body: [new Uint8Array(bytes)], bytes };
    this.step({ kind: 'produce', order });
  }

  abort(pick: number): void {
    const id = [...this.open][pick % Math.max(this.open.size, 1)] ?? 'nobody';
    this.open.delete(id);
    this.step({ kind: 'abort', id: fromLatin1(id) });
  }

  answer(pick: number, status: string, socket = this.socket): void {
    const id = this.sent[pick % Math.max(this.sent.length, 1)] ?? 'nobody';
    const message = decodePzqAtProducer([id, status, '', ...(status === '1' ? [] : ['no'])].map(fromLatin1));
    this.step({ kind: 'message', socket: socket ?? 0, message });
  }

  advance(ms: number, lateMs: number): void {
    passTime(this, this.session, ms, lateMs);
  }

  step(event: PzqProducerEvent<string> | { kind: 'timer'; lateMs: number }): void {
    for (const effect of this.session.step(event, this.now)) this.#perform(effect);
    this.session.assertInvariants();
    const { unacknowledged, waiting } = this.session.stats;
    expect(unacknowledged + waiting).toBe(this.open.size);
    expect(unacknowledged).toBeLessThanOrEqual(WINDOW);
    if (this.socket === undefined) return;
    // Everything sent without an outcome is on the current connection.
    const here = new Set(this.sent);
    for (const id of this.open) if (this.everSent.has(id)) expect(here).toContain(id);
  }

  #perform(effect: PzqProducerEffect<string>): void {
    switch (effect.kind) {
      case 'open':
        expect(this.socket).toBeUndefined();
        this.socket = effect.socket;
        this.sent = [];
        break;
      case 'close':
        expect(effect.socket).toBe(this.socket);
        this.socket = undefined;
        break;
      case 'send': {
        expect(effect.socket).toBe(this.socket);
        const id = latin1(effect.command.id);
        expect(this.open).toContain(id);
        // First sends keep the order of the callers, however often others were repeated in between.
        if (!this.everSent.has(id)) expect(Math.max(0, ...[...this.everSent].map(Number))).toBeLessThan(Number(id));
        this.everSent.add(id);
        this.sent.push(id);
        break;
      }
      case 'stored':
      case 'failed':
        expect(this.open.delete(effect.ticket)).toBe(true);
        break;
      case 'note':
        break;
    }
  }
}

type Action = (world: World) => void;
const pick = fc.nat({ max: 9 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.nat({ max: 20 }).map(
      (bytes): Action =>
        (world) =>
          world.produce(bytes),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(pick, fc.constantFrom('1', '1', '1', '0', 'OK')).map(
      ([which, status]): Action =>
        (world) =>
          world.answer(which, status),
    ),
  },
  pick.map(
    (which): Action =>
      (world) =>
        world.answer(which, '1', 0),
  ),
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
  fc.constantFrom('lost' as const, 'refused' as const).map((kind): Action => {
    return (world) => world.step({ kind, socket: world.socket ?? 0, cause: 'x' });
  }),
  arbitraries.message().map((frames): Action => {
    const message = decodePzqAtProducer(frames);
    return (world) => world.step({ kind: 'message', socket: world.socket ?? 0, message });
  }),
);

it('rule 23: whatever happens, a message ends once, and until then is sent in its turn on the current connection', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), fc.boolean(), (actions, close) => {
      const world = new World();
      for (const act of actions) act(world);
      if (close) world.step({ kind: 'close' });
      else world.advance(100_000, 0);
      expect(world.open.size).toBe(0);
      expect(world.session.deadline).toBe(Infinity);
    }),
    { numRuns: 1000 },
  );
});
