import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfBody, unpackBody } from '../body.js';
import type { NewMessage } from '../store.js';
import { decodeHead, encodeRecord, INLINE_MAX, RecordWriter } from './record.js';

const micros = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 52 - 1 }));
const frame = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ minLength: INLINE_MAX, maxLength: INLINE_MAX + 2 }),
);
const put: fc.Arbitrary<NewMessage> = fc.record({
  storedMicros: micros,
  readyMicros: micros,
  expiresMicros: micros,
  body: fc.array(frame, { minLength: 1, maxLength: 5 }),
});
const death = fc.record({
  reason: fc.constantFrom('max-deliveries' as const, 'expired' as const),
  diedMicros: micros,
  deliveries: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});

describe('records', () => {
  it('come back as they were written, large bodies beside them', () => {
    fc.assert(
      fc.property(fc.array(put, { minLength: 1, maxLength: 4 }), (puts) => {
        const writer = new RecordWriter(puts);
        const written = puts.map((one) => writer.write(one));
        for (const [index, { record, apart, bytes }] of written.entries()) {
          const { storedMicros, readyMicros, expiresMicros, body } = puts[index] as NewMessage;
          const head = decodeHead(record);
          expect(head).toMatchObject({ storedMicros, readyMicros, expiresMicros, bytes, death: undefined });
          expect(bytes).toBe(bytesOfBody(body));
          expect(apart === undefined).toBe(bytes <= INLINE_MAX);
          expect(unpackBody(apart ?? record, head?.bodyAt ?? 0)?.map((one) => Uint8Array.from(one))).toEqual(body);
        }
      }),
    );
  });

  it('change their heads and keep their bodies', () => {
    fc.assert(
      fc.property(put, micros, fc.option(death, { nil: undefined }), (one, readyMicros, died) => {
        const { record } = new RecordWriter([one]).write(one);
        const before = decodeHead(record)!;
        const changed = encodeRecord({ ...before, readyMicros, death: died }, record);
        const after = decodeHead(changed)!;
        expect({ ...after, bodyAt: 0 }).toEqual({ ...before, readyMicros, death: died, bodyAt: 0 });
        if (before.bodyAt !== undefined)
          expect(unpackBody(changed, after.bodyAt!)).toEqual(unpackBody(record, before.bodyAt));
      }),
    );
  });

  it('are told from any other bytes, or read within their bounds', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), cut: fc.nat() });
    fc.assert(
      fc.property(put, damage, (one, { at, byte, cut }) => {
        const record = Buffer.from(new RecordWriter([one]).write(one).record);
        record[at % record.length] = byte;
        const part = record.subarray(0, cut % (record.length + 1));
        for (const bytes of [record, part]) {
          const head = decodeHead(bytes);
          if (head?.bodyAt !== undefined) expect(bytesOfBody(unpackBody(bytes, head.bodyAt)!)).toBe(head.bytes);
        }
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat({ max: 120 }), (bytes, from) => {
        decodeHead(Buffer.from(bytes));
        unpackBody(Buffer.from(bytes), from);
      }),
    );
  });
});
