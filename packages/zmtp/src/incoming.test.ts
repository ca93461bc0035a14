import { expect, it } from 'vitest';
import { Incoming } from './incoming.js';

const LARGE = 2 ** 16;

/** Named connections, and which of them were cut. */
function connections(incoming: Incoming, count: number) {
  const cut: number[] = [];
  const ones = Array.from({ length: count }, (_, index) => {
    let held = 0;
    const one = {
      isUnread: false,
      cut: () => {
        cut.push(index);
        one.holds(0);
      },
      holds: (bytes: number, now = 0) => {
        incoming.onHeard(one, bytes, held, now);
        held = bytes;
      },
    };
    return one;
  });
  return { cut, ones };
}

it('beyond the bound, the connection that was idle longest is cut', () => {
  const incoming = new Incoming(4 * LARGE);
  const { cut, ones } = connections(incoming, 5);
  for (const one of ones.slice(0, 4)) one.holds(LARGE);
  expect([cut, incoming.bytes]).toEqual([[], 4 * LARGE]);
  ones[0]!.holds(LARGE);
  ones[4]!.holds(2 * LARGE);
  expect([cut, incoming.bytes]).toEqual([[1, 2], 4 * LARGE]);
});

it('a connection that holds little or was just active is not cut', () => {
  const incoming = new Incoming(LARGE);
  const { cut, ones } = connections(incoming, 5);
  for (const one of ones.slice(0, 4)) one.holds(LARGE - 1);
  ones[4]!.holds(8 * LARGE);
  expect(cut).toEqual([]);
  for (const one of ones) one.holds(0);
  expect(incoming.bytes).toBe(0);
});

it('while memory is short, those are cut of which nothing came for long, and not for the time in which nothing was read', () => {
  const incoming = new Incoming(100 * LARGE);
  const { cut, ones } = connections(incoming, 3);
  for (const [index, one] of ones.entries()) one.holds(LARGE, 100 * index);
  expect([incoming.relieve(3 * LARGE, 99, true), cut]).toEqual([LARGE, [0]]);
  incoming.onProceed(300);
  expect([incoming.relieve(LARGE, 299, true), cut]).toEqual([0, [0]]);
  expect([incoming.relieve(LARGE, 300, true), cut]).toEqual([LARGE, [0, 1]]);
});

it('a connection that waits to be read is not cut until memory is full', () => {
  const incoming = new Incoming(100 * LARGE);
  const { cut, ones } = connections(incoming, 2);
  for (const one of ones) one.holds(LARGE);
  ones[0]!.isUnread = true;
  expect([incoming.relieve(2 * LARGE, 0, true), cut]).toEqual([LARGE, [1]]);
  expect([incoming.relieve(LARGE, 0, false), cut]).toEqual([LARGE, [1, 0]]);
});
