/** What the encoders refuse and share; the bytes themselves are in the vectors. */
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { encodePzq, encodePzqHeaders, encodePzqMonitorText } from './index.js';
import type { PzqCommand } from './index.js';

const [id, key] = framesOf('id', 'key') as [Uint8Array, Uint8Array];
const body = framesOf('a', '');
const delivery: PzqCommand = { kind: 'delivery', key, sentMicros: 1, ackTimeoutMicros: 0, body };

describe('encodePzq', () => {
  test('passes on ids, keys and bodies unchanged, in its own array', () => {
    const produce = encodePzq({ kind: 'produce', id, headers: [], body });
    expect(produce[0]).toBe(id);
    expect(produce[2]).toBe(body[0]);
    expect(encodePzq(delivery)[0]).toBe(key);
    expect(encodePzq({ kind: 'monitor-request' })).not.toBe(encodePzq({ kind: 'monitor-request' }));
  });

  test.each<PzqCommand>([
    { kind: 'produce', id, headers: [], body: [] },
    { kind: 'produce', id, headers: framesOf('h', ''), body },
    { kind: 'producer-ack', id, stored: true, reason: 'but' },
    { kind: 'producer-ack', id, stored: false, reason: 'no ☃' },
    { ...delivery, body: [] },
    { ...delivery, key: new Uint8Array(0) },
    { ...delivery, sentMicros: -1 },
    { ...delivery, sentMicros: 2 ** 53 },
    { ...delivery, ackTimeoutMicros: 0.5 },
    { kind: 'consumer-ack', key: new Uint8Array(0), positive: true },
    { kind: 'lease-extension', key: new Uint8Array(0) },
    { kind: 'monitor-reply', text: '' },
  ])('refuses %o', (command) => {
    expect(() => encodePzq(command)).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN, 4_000_000_000_001])('a header does not say %d ms', (delayMs) => {
    expect(() => encodePzqHeaders({ delayMs })).toThrow(RangeError);
    expect(() => encodePzqHeaders({ ttlMs: delayMs })).toThrow(RangeError);
  });

  test.each<[string, string]>([
    ['', 'x'],
    ['a:b', 'x'],
    ['a\nb', 'x'],
    ['a', 'x\ny'],
  ])('rule 22: the monitor does not say %j is %j', (name, value) => {
    expect(() => encodePzqMonitorText([[name, value]])).toThrow(RangeError);
  });
});
