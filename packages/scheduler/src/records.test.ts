import { fromLatin1 } from '@proj/frames';
import { isProjError } from '@proj/transport';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ScheduleRecord } from './engine/events.js';
import { decodeRecord, encodeRecord } from './records.js';

const record: fc.Arbitrary<ScheduleRecord> = fc.record({
  queue: fc.string({ unit: 'binary' }),
  headers: fc.uint8Array(),
  body: fc.uint8Array(),
  every: fc.oneof(fc.integer({ min: 1 }), fc.string()),
  runsLeft: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
  nextMicros: fc.maxSafeInteger(),
});

it('a record is read back as it was', () => {
  fc.assert(
    fc.property(record, (one) => {
      const { headers, body, ...rest } = decodeRecord('k', encodeRecord(one));
      expect({ ...rest, headers: [...headers], body: [...body] }).toEqual({
        ...one,
        headers: [...one.headers],
        body: [...one.body],
      });
    }),
  );
});

it.each(['', '{}', '{}\n', 'null\n', '{"format":2}\n', 'x\n'])('%j is not a record', (text) => {
  let error: unknown;
  try {
    decodeRecord('the key', fromLatin1(text));
  } catch (thrown) {
    error = thrown;
  }
  expect(isProjError(error, 'CORRUPT'), String(error)).toBe(true);
  expect(String(error)).toContain('the key');
});
