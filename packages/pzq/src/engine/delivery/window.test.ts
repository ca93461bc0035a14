import { describe, expect, it } from 'vitest';
import { InFlight } from './in-flight.js';
import { ConsumerSide } from './consumer-side.js';
import { Output } from '../output.js';
import { ReadyWindow } from './window.js';
import type { StoredMessage } from '../../store/store.js';

const message = (seq: number): StoredMessage => ({
  seq,
  storedMicros: 1,
  body: [Buffer.of(seq)],
  bytes: 1,
  deliveries: 0,
  expiresMicros: 0,
});

/** A window of the messages 1 to `top`, with its output. */
function windowOf(top: number) {
  const out = new Output();
  const settings = { ackTimeoutMs: 1000, maxInFlight: 10, maxInFlightBytes: 1000 } as const;
  const owner = { overdue: () => false, onReturned: () => false };
  const side = new ConsumerSide(
    'queue',
    1n,
    settings,
    { wallMicros: () => 1, uuid: () => '', random: () => 0 },
    new InFlight(settings),
    out,
    owner,
  );
  const window = new ReadyWindow({ windowMax: 100, windowMaxBytes: 1000, probeIntervalMs: 100 }, top, false, side, out);
  const asked = () => out.effects.flatMap((effect) => (effect.kind === 'load' ? [effect.after] : []));
  return { window, side, asked };
}

describe('a load', () => {
  it('leaves messages of an unreported commit to that commit', () => {
    const { window, side } = windowOf(1);
    window.load();
    window.loaded([message(1), message(2)]);
    expect([side.ready, window.cursor]).toEqual([1, 1]);
    window.stored(message(2), false);
    expect([side.ready, window.cursor]).toEqual([2, 2]);
  });

  it('keeps a thousand parts as one', () => {
    const { window, side } = windowOf(1);
    window.load();
    window.loaded([{ ...message(1), body: Array.from({ length: 1000 }, () => new Uint8Array(0)) }]);
    expect(side.find(1)?.stored.body).toMatchObject({ memory: new Uint8Array(0), ends: Array<number>(1000).fill(0) });
  });

  it('looks again for messages that came back to the store while it was reading', () => {
    const { window, side, asked } = windowOf(5);
    window.load();
    window.loaded([1, 2, 3].map(message));
    window.load();
    window.reveal(2);
    window.loaded([4, 5].map(message));
    window.load();
    expect([asked(), side.ready]).toEqual([[0, 3, 1], 5]);
  });
});
