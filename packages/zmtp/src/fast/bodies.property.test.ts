import fc from 'fast-check';
import { expect, it } from 'vitest';
import { beginWrite, endWrite, giveBack, lend } from './bodies.js';
import { allocate, reclaim } from './spares.js';
import { Pipe } from '../pipe.js';

interface Body {
  readonly bytes: Uint8Array;
  readonly mark: number;
  readonly length: number;
  writes: number;
  isGiven: boolean;
}

type Action = readonly [what: 'lend' | 'write' | 'written' | 'give' | 'read' | 'reclaim', which: number];

const action: fc.Arbitrary<Action> = fc.tuple(
  fc.constantFrom('lend', 'lend', 'write', 'written', 'give', 'give', 'read', 'reclaim'),
  fc.nat(1000),
);
/** Around the smallest size that is reused, so that one piece fits another body. */
const sizeOf = (which: number): number => [16_000, 16_384, 20_000, 33_000, 100_000][which % 5] ?? 0;

it('memory is never reused while a body is being written or may still be read', () => {
  let again = 0;
  const before = new WeakSet<ArrayBufferLike>();
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 120 }), (actions) => {
      const bodies: Body[] = [];
      const chunks: Uint8Array[] = [];
      let mark = 0;
      const marked = (bytes: Uint8Array): Uint8Array => {
        if (before.has(bytes.buffer)) again++;
        return bytes.fill(++mark);
      };
      for (const [what, which] of actions) {
        const body = bodies[which % (bodies.length || 1)];
        if (what === 'lend') {
          const length = sizeOf(which);
          const bytes = marked(lend(length, length));
          bodies.push({ bytes, mark: mark % 256, length, writes: 0, isGiven: false });
        } else if (what === 'read') chunks.push(marked(allocate(sizeOf(which))));
        else if (what === 'reclaim') {
          const chunk = chunks.pop();
          if (chunk === undefined) continue;
          before.add(chunk.buffer);
          reclaim(chunk);
        } else if (body === undefined) continue;
        else if (what === 'give') {
          body.isGiven = true;
          giveBack([body.bytes]);
        } else if (what === 'write' && !body.isGiven) {
          body.writes++;
          beginWrite(body.bytes);
        } else if (what === 'written' && body.writes > 0) {
          body.writes--;
          endWrite(body.bytes);
        }
        for (const { bytes, mark: own, length, writes, isGiven } of bodies) {
          const isOver = isGiven && writes === 0 && length >= 16_384;
          // A stale reference finds nothing.
          expect(bytes.length).toBe(isOver ? 0 : length);
          if (!isOver) expect([bytes[0], bytes[length - 1]]).toEqual([own, own]);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(again).toBeGreaterThan(100);
});

it('spare memory is lent in full, for a body that would otherwise begin with less', () => {
  const body = lend(2 ** 20, 3 * 2 ** 20);
  expect(body.length).toBe(2 ** 20);
  const large = lend(3 * 2 ** 20, 3 * 2 ** 20);
  giveBack([large]);
  expect([large.length, lend(2 ** 20, 3 * 2 ** 20).length]).toEqual([0, 3 * 2 ** 20]);
});

it('memory of bodies that were not lent is left alone', () => {
  const bytes = new Uint8Array(50_000);
  beginWrite(bytes);
  giveBack([bytes]);
  endWrite(bytes);
  expect(bytes.length).toBe(50_000);
});

it('memory is not reused if its connection ended during the write', () => {
  for (const ends of [true, false]) {
    const pipe = new Pipe(false, { highWaterMark: 10, peerQueueMaxBytes: 2 ** 20 });
    const body = lend(50_000, 50_000);
    pipe.push([body]);
    giveBack([body]);
    pipe.take(2 ** 20);
    if (ends) pipe.detach();
    pipe.landed();
    expect(body.length).toBe(ends ? 50_000 : 0);
  }
});
