import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isProjError } from './errors.js';
import { parseOptions } from './options.js';
import type { OptionsSchema } from './options.js';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Stands in for a zod schema: accepts, or refuses with these issues. */
function refusing(...issues: Issue[]): OptionsSchema<never> {
  return { safeParse: () => ({ success: false, error: { issues } }) };
}

function refusal(input: unknown, ...issues: Issue[]): string {
  try {
    parseOptions('MdpBroker', refusing(...issues), input);
  } catch (error) {
    if (isProjError(error, 'OPTIONS_INVALID')) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseOptions', () => {
  it('returns what the schema makes of the input', () => {
    const schema: OptionsSchema<{ liveness: number }> = {
      safeParse: (input) => ({ success: true, data: { liveness: 3, ...(input as object) } }),
    };

    expect(parseOptions('MdpBroker', schema, {})).toEqual({ liveness: 3 });
    expect(parseOptions('MdpBroker', schema, { liveness: 5 })).toEqual({ liveness: 5 });
  });

  it('names the owner, the option, its value and what is allowed', () => {
    expect(refusal({ liveness: 1 }, { path: ['liveness'], message: 'must be at least 2' })).toBe(
      'MdpBroker: option liveness = 1: must be at least 2',
    );
  });

  it('names everything that is wrong', () => {
    const issues = [
      { path: ['liveness'], message: 'too small' },
      { path: ['service'], message: 'too long' },
    ];

    expect(refusal({ liveness: 1, service: 'x' }, ...issues)).toBe(
      'MdpBroker: option liveness = 1: too small; option service = "x": too long',
    );
  });

  it('shows the issue alone when it concerns the options as a whole', () => {
    expect(refusal({ odd: 1 }, { path: [], message: 'unrecognized key "odd"' })).toBe(
      'MdpBroker: unrecognized key "odd"',
    );
  });

  it.each([
    ['text', 'a"b', '"a\\"b"'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', Number.NaN, 'NaN'],
    ['a large integer', 10n, '10'],
    ['a function', () => 1, 'a function'],
    ['an object, which may hold secrets', { key: 'secret' }, 'an object'],
    ['an array', [1, 2], 'an array'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('shows %s', (_, value, shown) => {
    expect(refusal({ option: value }, { path: ['option'], message: 'no' })).toBe(
      `MdpBroker: option option = ${shown}: no`,
    );
  });

  it('finds the value of a nested option, or undefined where the path breaks off', () => {
    const input = { endpoints: ['tcp://a', 5] };

    expect(refusal(input, { path: ['endpoints', 1], message: 'no' })).toBe('MdpBroker: option endpoints.1 = 5: no');
    expect(refusal(input, { path: ['a', 'b', 'c'], message: 'no' })).toBe('MdpBroker: option a.b.c = undefined: no');
    expect(refusal(undefined, { path: ['a'], message: 'no' })).toBe('MdpBroker: option a = undefined: no');
    expect(refusal(null, { path: ['a', 'b'], message: 'no' })).toBe('MdpBroker: option a.b = undefined: no');
  });

  it('keeps the issues as details', () => {
    const issues = [{ path: ['a'], message: 'no' }];
    try {
      parseOptions('X', refusing(...issues), {});
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ details: issues });
    }
  });
});

describe('parseOptions with a schema of zod', () => {
  const keys = z.strictObject({ serverKey: z.string() });
  const schema = z
    .strictObject({
      endpoints: z.array(z.string()).optional(),
      timeoutMs: z.int().optional(),
      version: z.enum(['0.2', '0.1']).default('0.2'),
      folder: z.union([z.boolean(), z.literal('known')]).optional(),
      curve: keys.optional(),
      rules: z.array(keys).default([]),
    })
    .superRefine(() => {})
    .transform((options) => options);
  const refused = (input: unknown) => {
    try {
      parseOptions('MdpClient', schema, input);
    } catch (error) {
      if (isProjError(error, 'OPTIONS_INVALID')) return error.message;
    }
    return expect.fail('nothing was thrown');
  };

  it.each([
    ['endpoint', 'endpoints'],
    ['endpints', 'endpoints'],
    ['endpionts', 'endpoints'],
    ['TimeoutMS', 'timeoutMs'],
    ['timeout', 'timeoutMs'],
    ['end', 'endpoints'],
  ])('suggests for an unknown option %s that %s was meant', (given, meant) => {
    expect(refused({ [given]: 1 })).toBe(`MdpClient: unknown option ${given}: did you mean \`${meant}\`?`);
  });

  it.each([
    [{ curve: { serverKey: 'x', sreverKey: 'y' } }, 'curve.sreverKey: did you mean `curve.serverKey`?'],
    [{ rules: [{ serverKey: 'x', serverKeys: 'y' }] }, 'rules.0.serverKeys: did you mean `rules.0.serverKey`?'],
  ])('does the same for a nested option', (given, text) => {
    expect(refused(given)).toBe(`MdpClient: unknown option ${text}`);
  });

  it('lists the options where no name is near, separately for each unknown option', () => {
    expect(refused({ host: 'x', endpoint: 'y' })).toBe(
      'MdpClient: unknown option host: must be one of endpoints, timeoutMs, version, folder, curve, rules; ' +
        'unknown option endpoint: did you mean `endpoints`?',
    );
  });

  it('says what is allowed, not that the input is invalid', () => {
    expect(refused({ folder: 5, version: '3', timeoutMs: 'x' })).toBe(
      'MdpClient: option timeoutMs = "x": expected number, received string; ' +
        'option version = "3": expected one of "0.2"|"0.1"; ' +
        'option folder = 5: expected boolean, received number, or expected "known"',
    );
  });
});
