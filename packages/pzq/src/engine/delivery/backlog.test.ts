import { describe, expect, it } from 'vitest';
import { InFlight } from './in-flight.js';
import { ConsumerSide } from './consumer-side.js';
import { Output } from '../output.js';
import { Backlog } from './backlog.js';
import type { StoredMessage } from '../../store/store.js';

const message = (seq: number): StoredMessage => ({
  seq,
  storedMicros: 1,
  body: [Buffer.of(seq)],
  bytes: 1,
  deliveries: 0,
  expiresMicros: 0,
});

/** A backlog of the messages 1 to `top`, with its output. */
function backlogOf(top: number) {
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
  const backlog = new Backlog({ windowMax: 100, windowMaxBytes: 1000, probeIntervalMs: 100 }, top, false, side, out);
  const asked = () => out.effects.flatMap((effect) => (effect.kind === 'load' ? [effect.after] : []));
  return { backlog, side, asked };
}

describe('a load', () => {
  it('leaves messages of an unreported commit to that commit', () => {
    const { backlog, side } = backlogOf(1);
    backlog.load();
    backlog.loaded([message(1), message(2)]);
    expect([side.ready, backlog.cursor]).toEqual([1, 1]);
    backlog.stored(message(2), false);
    expect([side.ready, backlog.cursor]).toEqual([2, 2]);
  });

  it('looks again for messages that came back to the store while it was reading', () => {
    const { backlog, side, asked } = backlogOf(5);
    backlog.load();
    backlog.loaded([1, 2, 3].map(message));
    backlog.load();
    backlog.reveal(2);
    backlog.loaded([4, 5].map(message));
    backlog.load();
    expect([asked(), side.ready]).toEqual([[0, 3, 1], 5]);
  });
});
