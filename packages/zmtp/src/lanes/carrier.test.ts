import { expect, it } from 'vitest';
import type { NodeSocket } from '../node-socket.js';
import { HEADER_BYTES, KIND, PREAMBLE, writeLaneHeader } from '../engine/framing/lane-frames.js';
import type { ReadRank } from '../turn.js';
import { Carrier } from './carrier.js';
import type { CarrierHost } from './carrier.js';

/** Frames that open these lanes; two of them fill a share of a turn. */
function openings(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * HEADER_BYTES);
  numbers.reduce((at, number) => writeLaneHeader(bytes, at, KIND.open, number, 0), 0);
  return bytes;
}

/** A carrier whose turns are over at once, or never; `asked` is how it asked for its next ones. */
function contended(turns: { readonly isOver: boolean; readonly isContended: boolean }) {
  const clock = { now: 0 };
  const asked: ReadRank[] = [];
  const opened: unknown[] = [];
  const host = {
    turns: {
      isOver: () => turns.isOver,
      isContended: turns.isContended,
      flushLater: () => {},
      readLater: (_: unknown, rank: ReadRank) => asked.push(rank),
    },
    watch: { now: () => clock.now, set: () => {} },
    hasRoom: true,
    onLane: (lane: unknown) => void opened.push(lane),
  };
  const inlet = { feed: () => {}, on: () => {}, write: () => {}, pause: () => {}, resume: () => {}, destroyed: false };
  const carrier = new Carrier(inlet as unknown as NodeSocket, 'acceptor', host as unknown as CarrierHost);
  carrier.onBytes(PREAMBLE);
  return { carrier, clock, asked, opened };
}

it('after a full turn, occasional lanes go before busy readers, and busy lanes do not', () => {
  const { carrier, clock, asked } = contended({ isOver: true, isContended: false });
  carrier.onBytes(openings(1, 2, 3));
  carrier.onRead();
  clock.now = 50;
  carrier.onBytes(openings(4, 5));
  carrier.onRead();
  clock.now = 500;
  carrier.onBytes(openings(6, 7));
  expect(asked).toEqual(['regular', 'busy', 'regular']);
});

it('lanes that need more than one turn are busy, however rarely they have one', () => {
  const { carrier, clock, asked } = contended({ isOver: true, isContended: false });
  carrier.onBytes(openings(1, 2, 3, 4, 5, 6, 7));
  for (const now of [500, 1000]) {
    clock.now = now;
    carrier.onRead();
  }
  expect(asked).toEqual(['regular', 'busy', 'busy']);
});

it('lanes have no more than a share of a turn while others wait', () => {
  const { carrier, asked, opened } = contended({ isOver: false, isContended: true });
  carrier.onBytes(openings(1, 2, 3));
  expect([opened.length, asked.length]).toEqual([2, 1]);
});
