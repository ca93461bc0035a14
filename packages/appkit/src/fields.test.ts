import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bytes, fieldsOf, fromSchema, milliseconds, onOff, wholeNumber } from './fields.js';

/** As the schemas of the packages are written. */
const { shape } = z.strictObject({
  attempts: z.int().min(1).max(100).default(3),
  ttlMs: z.int().min(10).max(1000).optional(),
  sizeMax: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(4096),
  bridge: z.boolean().default(true),
});

const options = z.strictObject({
  appAttempts: fromSchema(shape.attempts, wholeNumber).describe('tries'),
  appTtlMs: fromSchema(shape.ttlMs, milliseconds).describe('patience'),
  appSizeMax: fromSchema(shape.sizeMax, bytes),
  appBridge: fromSchema(shape.bridge, onOff),
});

describe('fromSchema', () => {
  it('takes bounds and default from the schema, words from the kind and the help from the program', () => {
    expect(fieldsOf(options)).toEqual(
      fieldsOf(
        z.strictObject({
          appAttempts: wholeNumber({ min: 1, max: 100 }).default(3).describe('tries'),
          appTtlMs: milliseconds({ min: 10, max: 1000 }).optional().describe('patience'),
          appSizeMax: bytes({ min: 1024 }).default(4096),
          appBridge: onOff().default(true),
        }),
      ),
    );
  });

  it('refuses what the schema refuses', () => {
    expect(options.parse({ appTtlMs: 1000 })).toEqual({
      appAttempts: 3,
      appTtlMs: 1000,
      appSizeMax: 4096,
      appBridge: true,
    });
    for (const refused of [{ appAttempts: 101 }, { appTtlMs: 9 }, { appSizeMax: 1023 }, { appBridge: 1 }])
      expect(options.safeParse(refused).success).toBe(false);
  });
});
