import { describe, expect, it } from 'vitest';
import { InFlight } from './message.js';
import { ConsumerSide } from './consumer-side.js';
import { Output } from './output.js';
import { Backlog } from './backlog.js';
import type { StoredMessage } from '../store/store.js';

const message = (seq: number): StoredMessage => ({
  seq,
  storedMicros: 1,
  body: [Buffer.of(seq)],
  bytes: 1,
  deliveries: 0,
  expiresMicros: 0,
});

/** A shelf on which messages 1 to `top` lie, with its way out. */
function shelfWith(top: number) {
  const out = new Output();
  const settings = { name: 'queue', epoch: 1n, ackTimeoutMs: 1000, maxInFlight: 10, maxInFlightBytes: 1000 } as const;
  const owner = { overdue: () => false, onReturned: () => undefined };
  const outlet = new ConsumerSide(
    settings,
    { wallMicros: () => 1, uuid: () => '', random: () => 0 },
    new InFlight(settings),
    out,
    owner,
  );
  const shelf = new Backlog({ windowMax: 100, windowMaxBytes: 1000, probeIntervalMs: 100 }, top, false, outlet, out);
  const asked = () => out.effects.flatMap((effect) => (effect.kind === 'load' ? [effect.after] : []));
  return { shelf, outlet, asked };
}

describe('a load', () => {
  it('leaves what a commit has not told yet to that commit', () => {
    const { shelf, outlet } = shelfWith(1);
    shelf.load('queue');
    shelf.loaded([message(1), message(2)]);
    expect([outlet.ready, shelf.cursor]).toEqual([1, 1]);
    shelf.stored(message(2), false);
    expect([outlet.ready, shelf.cursor]).toEqual([2, 2]);
  });

  it('looks again at what came back to the store while it was under way', () => {
    const { shelf, outlet, asked } = shelfWith(5);
    shelf.load('queue');
    shelf.loaded([1, 2, 3].map(message));
    shelf.load('queue');
    shelf.reveal(2);
    shelf.loaded([4, 5].map(message));
    shelf.load('queue');
    expect([asked(), outlet.ready]).toEqual([[0, 3, 1], 5]);
  });
});
