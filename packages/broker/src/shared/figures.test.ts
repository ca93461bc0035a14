import { expect, it } from 'vitest';
import { elapsedMs, momentOf, nameOf, RefusedPeers, ServiceMeter } from './figures.js';

const peer = (name: string) => ({ key: name, id: Buffer.from(name, 'latin1') });

it('measures from one moment to another, also where 32 bits of microseconds wrap', () => {
  expect(elapsedMs(momentOf(1000.25), 1002.5)).toBe(2.25);
  const late = 2 ** 31 / 1000 - 1;
  expect(elapsedMs(momentOf(late), late + 2)).toBeCloseTo(2, 2);
});

it('counts outcomes, and how long requests waited and were worked on', () => {
  const figures = new ServiceMeter();
  figures.requests = 2;
  figures.dispatched(momentOf(10), 14);
  figures.finished(momentOf(14), 20);
  figures.ended('expired');
  const { requests, outcomes, waitMs, workMs } = figures.snapshot();
  expect([requests, outcomes, waitMs.sumMs, workMs.sumMs]).toEqual([2, { ok: 1, expired: 1 }, 4, 6]);
});

it('remembers who was refused most among any number of peers refused once', () => {
  const refused = new RefusedPeers();
  for (let i = 0; i < 10_000; i++) {
    refused.add(peer(`once ${i}`), 'envelope');
    if (i % 10 === 0) refused.add(peer('flooder'), 'no-header');
  }
  expect(refused.of('flooder')).toEqual({ 'no-header': 1000 });
  expect([...refused.entries()]).toHaveLength(256);
});

it('shows a routing id as text, or in hex if it cannot be printed', () => {
  expect([nameOf(peer('w-1')), nameOf(peer('\0\xff'))]).toEqual(['w-1', '00ff']);
});
