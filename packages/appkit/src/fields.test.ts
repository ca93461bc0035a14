import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  bindEndpoint,
  bytes,
  endpointFromSchema,
  fieldsOf,
  fromSchema,
  milliseconds,
  oneOf,
  onOff,
  usual,
  wholeNumber,
  withinSchema,
  wordFromSchema,
} from './fields.js';

/** Written like the schemas of the packages. */
const { shape } = z.strictObject({
  attempts: z.int().min(1).max(100).default(3),
  ttlMs: z.int().min(10).max(1000).optional(),
  sizeMax: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(4096),
  bridge: z.boolean().default(true),
  dialect: z.enum(['new', 'old']).default('new'),
  endpoint: z.union([z.string(), z.array(z.string())]).default('tcp://127.0.0.1:5555'),
});

const options = z.strictObject({
  appAttempts: fromSchema(shape.attempts, wholeNumber).describe('tries'),
  appTtlMs: fromSchema(shape.ttlMs, milliseconds).describe('patience'),
  appSizeMax: fromSchema(shape.sizeMax, bytes),
  appBridge: fromSchema(shape.bridge, onOff),
  appDialect: wordFromSchema(shape.dialect),
  appEndpoint: endpointFromSchema(shape.endpoint),
});

describe('fromSchema', () => {
  it('takes bounds and default from the schema, the description from the kind and the help text from the program', () => {
    expect(fieldsOf(options)).toEqual(
      fieldsOf(
        z.strictObject({
          appAttempts: wholeNumber({ min: 1, max: 100 }).default(3).describe('tries'),
          appTtlMs: milliseconds({ min: 10, max: 1000 }).optional().describe('patience'),
          appSizeMax: bytes({ min: 1024 }).default(4096),
          appBridge: onOff().default(true),
          appDialect: oneOf(['new', 'old']).default('new'),
          appEndpoint: bindEndpoint().default('tcp://127.0.0.1:5555'),
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
      appDialect: 'new',
      appEndpoint: 'tcp://127.0.0.1:5555',
    });
    for (const refused of [
      { appAttempts: 101 },
      { appTtlMs: 9 },
      { appSizeMax: 1023 },
      { appBridge: 1 },
      { appDialect: 'x' },
    ])
      expect(options.safeParse(refused).success).toBe(false);
  });

  it('clamps a number to the bounds of the schema', () => {
    expect([0, 50, 101].map((value) => withinSchema(value, shape.attempts))).toEqual([1, 50, 100]);
  });
});

it('says what is usual, and where it is not', () => {
  expect(usual({ mdp: 2500, nfp: 2500, ppp: 1000 })).toBe('2500, with ppp 1000');
  expect(usual({ mdp: ['tcp://a:1'], mdp01: ['tcp://a:1'] })).toBe('tcp://a:1');
});
