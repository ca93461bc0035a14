import fc from 'fast-check';
import { it } from 'vitest';
import { Access } from './access.js';
import type { AccessRules } from './access.js';
import { encodeZ85 } from './curve/z85.js';

const RUNS = 2000;
/** Times everybody, both rights and all names: 240,000 questions. */
const ASKED = 12;

const keyOf = (byte: number) => new Uint8Array(32).fill(byte);
const textOf = (byte: number) => encodeZ85(keyOf(byte));

/** The rules as intended, one after the other. */
function naive(rules: AccessRules, key: number | undefined, right: 'request' | 'serve', name: string): boolean {
  return rules.some(
    ({ keys, ...rights }) =>
      (keys === '*' || (key !== undefined && keys.includes(textOf(key)))) &&
      (rights[right] ?? []).some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name,
      ),
  );
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 4 });
const patterns = fc.option(fc.array(name, { maxLength: 4 }), { nil: undefined });
const key = fc.integer({ min: 0, max: 3 });
const rule = fc.record({
  keys: fc.oneof(fc.constant('*' as const), fc.array(key.map(textOf), { maxLength: 3 })),
  request: patterns,
  serve: patterns,
});

it('allows exactly what a rule allows', () => {
  const asked = fc.array(name, { minLength: ASKED, maxLength: ASKED });
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 5 }), asked, (rules, names) => {
      const access = new Access(rules);
      for (const byte of [undefined, 0, 1, 2, 3])
        for (const right of ['request', 'serve'] as const)
          for (const each of names) {
            const peer = byte === undefined ? {} : { publicKey: keyOf(byte) };
            if (access.allows(peer, right, each) !== naive(rules, byte, right, each))
              throw new Error(`${String(byte)} ${right} ${each}`);
          }
    }),
    { numRuns: RUNS },
  );
});
