import { parseOptions } from '@proj/transport';
import type { OptionsSchema } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import * as emqp from './emqp/options.js';
import * as mdp from './mdp/options.js';
import * as nfp from './nfp/options.js';
import * as ppp from './ppp/options.js';
import * as pzq from './pzq/options.js';

interface ObjectSchema extends OptionsSchema<unknown> {
  readonly shape: Readonly<Record<string, unknown>>;
}

const all: Readonly<Record<string, object>> = { ...emqp, ...mdp, ...nfp, ...ppp, ...pzq };
const schemas = Object.entries(all).filter((entry): entry is [string, ObjectSchema] => 'shape' in entry[1]);

/** What {@link parseOptions} says about one option with this value; empty if it is allowed. */
function refusalOf(schema: ObjectSchema, option: string, value: unknown): string {
  try {
    parseOptions('X', schema, { [option]: value });
    return '';
  } catch (error) {
    const parts = (error as Error).message.slice('X: '.length).split('; option ');
    return parts.find((part) => part.replace(/^option /, '').startsWith(option)) ?? '';
  }
}

describe('every option of every client', () => {
  const fields = schemas.flatMap(([name, schema]) =>
    Object.keys(schema.shape).map((field) => ({ name, schema, field })),
  );

  it('is found here', () => {
    expect(schemas.length).toBeGreaterThan(20);
    expect(fields.length).toBeGreaterThan(100);
  });

  it.each(fields)('$name: $field says what it expects', ({ schema, field }) => {
    const refusals = [Symbol('none'), -1.5, '', [], {}].map((value) => refusalOf(schema, field, value));
    expect(refusals.some((text) => /: (expected|must be) /.test(text))).toBe(true);
    for (const text of refusals) expect(text).not.toMatch(/Invalid|: $/);
  });
});
