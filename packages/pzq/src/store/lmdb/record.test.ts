import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfBody, unpackBody } from '../body.js';
import type { NewMessage } from '../store.js';
import { seqKey } from './keys.js';
import { contentOf, decodeHead, encodeRecord, INLINE_MAX, readBody, RecordWriter } from './record.js';

const KEY = seqKey(1);
const OTHER_KEY = seqKey(2);
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
        const written = puts.map((one, index) => writer.write(one, index + 2 ** 33));
        for (const [index, { key, record, apart, bytes }] of written.entries()) {
          expect(key).toEqual(seqKey(index + 2 ** 33));
          const { storedMicros, readyMicros, expiresMicros, body } = puts[index] as NewMessage;
          const content = contentOf(key, record)!;
          const head = decodeHead(content);
          expect(head).toMatchObject({ storedMicros, readyMicros, expiresMicros, bytes, death: undefined });
          expect(bytes).toBe(bytesOfBody(body));
          expect(apart === undefined).toBe(bytes <= INLINE_MAX);
          const read = apart === undefined ? unpackBody(content, head?.bodyAt ?? 0) : readBody(key, apart);
          expect(read?.map((one) => Uint8Array.from(one))).toEqual(body);
        }
      }),
    );
  });

  it('change their heads and keep their bodies', () => {
    fc.assert(
      fc.property(put, micros, fc.option(death, { nil: undefined }), (one, readyMicros, died) => {
        const { record } = new RecordWriter([one]).write(one, 1);
        const content = contentOf(KEY, record)!;
        const before = decodeHead(content)!;
        const changed = contentOf(
          OTHER_KEY,
          encodeRecord({ ...before, readyMicros, death: died }, content, OTHER_KEY),
        )!;
        const after = decodeHead(changed)!;
        expect({ ...after, bodyAt: 0 }).toEqual({ ...before, readyMicros, death: died, bodyAt: 0 });
        if (before.bodyAt !== undefined)
          expect(unpackBody(changed, after.bodyAt!)).toEqual(unpackBody(content, before.bodyAt));
      }),
    );
  });

  it('of a version without checksums come back as they were written', () => {
    // Version 1, stored at 2 micros, one frame; the second with its body apart.
    const inline = Buffer.from('01400000000000000000000001000000026869', 'hex');
    expect(decodeHead(contentOf(KEY, inline)!)).toMatchObject({ storedMicros: 2, bytes: 2, bodyAt: 9 });
    expect(unpackBody(inline, 9)?.map(String)).toEqual(['hi']);
    const apart = Buffer.from('81400000000000000000000002', 'hex');
    expect(decodeHead(contentOf(KEY, apart)!)).toMatchObject({ storedMicros: 2, bytes: 2, bodyAt: undefined });
    expect(readBody(KEY, Buffer.from('00000001000000026869', 'hex'))?.map(String)).toEqual(['hi']);
  });

  it('are denied with any bit changed, and under another key', () => {
    const bit = fc.record({ at: fc.nat(), bit: fc.integer({ min: 0, max: 7 }) });
    fc.assert(
      fc.property(put, bit, (one, { at, bit: which }) => {
        const { record, apart } = new RecordWriter([one]).write(one, 1);
        const isRead = (part: Buffer, key = KEY): boolean => {
          const content = part === record ? contentOf(key, part) : undefined;
          return part === record
            ? content !== undefined && decodeHead(content) !== undefined
            : readBody(key, part) !== undefined;
        };
        for (const part of apart === undefined ? [record] : [record, apart]) {
          expect(isRead(part, OTHER_KEY)).toBe(false);
          part[at % part.length] = part[at % part.length]! ^ (1 << which);
          expect(isRead(part)).toBe(false);
          part[at % part.length] = part[at % part.length]! ^ (1 << which);
          expect(isRead(part)).toBe(true);
        }
      }),
    );
  });

  it('are told from any other bytes, or read within their bounds', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), cut: fc.nat() });
    fc.assert(
      fc.property(put, damage, (one, { at, byte, cut }) => {
        const record = Buffer.from(new RecordWriter([one]).write(one, 1).record);
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
        contentOf(KEY, Buffer.from(bytes));
        readBody(KEY, Buffer.from(bytes));
        unpackBody(Buffer.from(bytes), from);
      }),
    );
  });
});
