import { expect, it } from 'vitest';
import { encodeZ85 } from '../curve/z85.js';
import { elapsedMs, namedApart, nameOf, ServiceMeter, setSince, shown } from './figures.js';

const peer = (name: string) => ({ key: name, id: Buffer.from(name, 'latin1') });

/** Something that began at `now`. */
function begun(now: number) {
  const record = { sinceSpan: 0, sinceUs: 0 };
  setSince(record, now);
  return record;
}

const MINUTE_MS = 60_000;

it('reports how long something has run, to a microsecond', () => {
  expect(elapsedMs(begun(1000.25), 1002.5)).toBe(2.25);
});

it.each([36, 60, 72, 60 * 24 * 400])('reports %i minutes, whenever they began', (minutes) => {
  for (const start of [0, 1, 2 ** 20 - 1, 2 ** 31 + 7, 60 * 24 * 365 * MINUTE_MS])
    expect(elapsedMs(begun(start), start + minutes * MINUTE_MS)).toBe(minutes * MINUTE_MS);
});

it('keeps a time in whole numbers of 32 bits', () => {
  for (const now of [0.001, 1e6 - 0.0004, 123_456_789.987, 1e12]) {
    const { sinceSpan, sinceUs } = begun(now);
    expect([sinceSpan | 0, sinceUs | 0]).toEqual([sinceSpan, sinceUs]);
  }
});

it('counts outcomes, and how long requests waited and took', () => {
  const figures = new ServiceMeter();
  figures.requests = 2;
  const request = begun(10);
  figures.dispatched(request, 14);
  figures.finished(request, 20);
  figures.ended('expired');
  const { requests, outcomes, waitMs, workMs } = figures.snapshot();
  expect([requests, outcomes, waitMs.sumMs, workMs.sumMs]).toEqual([2, { ok: 1, expired: 1 }, 4, 6]);
});

it('counts an hour of work as an hour', () => {
  const figures = new ServiceMeter();
  figures.finished(begun(5), 5 + 60 * MINUTE_MS);
  expect(figures.snapshot().workMs).toMatchObject({ count: 1, sumMs: 60 * MINUTE_MS });
});

it('shows a routing id as text, or in hex if it cannot be printed', () => {
  expect([nameOf(peer('w-1')), nameOf(peer('\0\xff'))]).toEqual(['w-1', '00ff']);
});

it('distinguishes peers of several sockets', () => {
  const rows = namedApart({ front: [{ id: 'a' }], back: [{ id: 'a' }, { id: 'b' }] });
  expect(rows.map(({ id }) => id)).toEqual(['a', 'a (back)', 'b']);
});

it('shows the key of a peer that has one', () => {
  const publicKey = new Uint8Array(32).fill(7);
  expect(shown({ ...peer('w'), publicKey })).toEqual({ id: 'w', key: encodeZ85(publicKey) });
  expect(shown(peer('w'))).toEqual({ id: 'w' });
});
