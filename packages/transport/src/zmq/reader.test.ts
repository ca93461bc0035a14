import { ManualClock } from '@proj/heartbeat';
import { expect, it } from 'vitest';
import { MessageReader } from './reader.js';

it('takes frames of less than half a receive buffer out of it, unless zeromq.js has done so, and no longer ones', async () => {
  const lengths = [0, 128, 129, 4095, 4096, 100_000];
  const received = lengths.map((length) => new Uint8Array(length).fill(7));
  const messages = [[...received]];
  const reader = new MessageReader(
    {
      receive: () => {
        const message = messages.shift();
        return message === undefined ? Promise.reject(new Error('closed')) : Promise.resolve(message);
      },
    },
    new ManualClock(),
  );
  let taken: Uint8Array[] = [];
  await reader.read(
    (frames) => {
      taken = frames;
    },
    () => undefined,
  );
  expect(taken.map((frame, index) => frame === received[index])).toEqual([true, true, false, false, true, true]);
  for (const frame of received) frame.fill(8);
  expect(taken.slice(2, 4).map((frame) => frame.every((byte) => byte === 7))).toEqual([true, true]);
  expect(taken.map(({ length }) => length)).toEqual(lengths);
});
