import { expect, it } from 'vitest';
import type { NodeSocket } from '../node-socket.js';
import { HEADER_BYTES, KIND, PREAMBLE, writeLaneHeader } from '../engine/lane-frames.js';
import { Carrier } from './carrier.js';
import type { CarrierHost } from './carrier.js';

/** Frames that open these lanes; two of them fill a share of a turn. */
function openings(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * HEADER_BYTES);
  numbers.reduce((at, number) => writeLaneHeader(bytes, at, KIND.open, number, 0), 0);
  return bytes;
}

it('after a full turn, occasional lanes go before busy readers, and busy lanes do not', () => {
  let now = 0;
  const asked: boolean[] = [];
  const host = {
    turns: {
      isOver: () => true,
      flushLater: () => {},
      readLater: (_: unknown, isSparse: boolean) => asked.push(isSparse),
    },
    watch: { now: () => now, set: () => {} },
    hasRoom: true,
    onLane: () => {},
  };
  const inlet = { feed: () => {}, on: () => {}, write: () => {}, pause: () => {}, resume: () => {}, destroyed: false };
  const carrier = new Carrier(inlet as unknown as NodeSocket, 'acceptor', host as unknown as CarrierHost);
  carrier.onBytes(PREAMBLE);
  carrier.onBytes(openings(1, 2, 3));
  carrier.onRead();
  now = 50;
  carrier.onBytes(openings(4, 5));
  carrier.onRead();
  now = 500;
  carrier.onBytes(openings(6, 7));
  expect(asked).toEqual([true, false, true]);
});
