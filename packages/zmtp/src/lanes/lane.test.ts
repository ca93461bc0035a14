import { expect, it } from 'vitest';
import { Lane } from './lane.js';
import type { LaneCarrier } from './lane.js';

const carrier: LaneCarrier = {
  remoteAddress: undefined,
  name: 'carrier',
  outgoing: 0,
  stalledUntil: 0,
  readers: { readLater: () => {} },
  wake: () => {},
  control: () => {},
  held: () => {},
  forget: () => {},
};

it('lanes that end with unsent bytes share one error, whose stack would cost more than a lane', () => {
  const told = [1, 2].map((number) => {
    let heard: Error | null | undefined;
    const lane = new Lane(number, carrier);
    lane.send([new Uint8Array(1)], (error) => (heard = error));
    lane.destroy();
    return heard;
  });
  expect(told[0]?.message).toBe('the lane was closed');
  expect(told[1]).toBe(told[0]);
});
