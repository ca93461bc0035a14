import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { boundedIssues } from './fault.js';
import { decodeFault, encodeFault } from './index.js';

const MARKER = Uint8Array.of(0xff, ...Buffer.from('fault1'));
const UNREADABLE = { origin: 'local', code: 'REPLY_INVALID', message: 'error reply cannot be read' };
const wire = (json: unknown) => [MARKER, ...framesOf(JSON.stringify(json))];

describe('encodeFault', () => {
  test('is the marker and a JSON object', () => {
    expect(encodeFault({ code: 'NO_FUNDS', message: 'balance is 3' })).toEqual(
      wire({ code: 'NO_FUNDS', message: 'balance is 3' }),
    );
  });

  test('carries issues with their paths', () => {
    const issues = [{ path: ['items', 0, 'price'], message: 'expected number' }];
    expect(encodeFault({ code: 'REQUEST_INVALID', message: 'm', issues })).toEqual(
      wire({ code: 'REQUEST_INVALID', message: 'm', issues }),
    );
  });

  test('sends nothing else from a refusal', () => {
    const refusal = { origin: 'local', code: 'C', message: 'm', cause: new Error('secret') } as const;
    expect(encodeFault(refusal)).toEqual(wire({ code: 'C', message: 'm' }));
  });

  test('cuts what is over the limits, and then stays under the size that is read', () => {
    const long = '\0'.repeat(5000);
    const issue = { path: Array<string>(50).fill(long), message: long };
    const frames = encodeFault({ code: long, message: long, issues: Array<typeof issue>(50).fill(issue) });
    expect(frames[1]?.length).toBeLessThanOrEqual(128 * 1024);
    const fault = decodeFault(frames);
    expect(fault?.origin).toBe('remote');
    expect(fault?.code).toHaveLength(64);
    expect(fault?.message).toHaveLength(1024);
    expect(fault?.issues).toHaveLength(16);
    expect(fault?.issues?.[0]?.message).toHaveLength(256);
    expect(fault?.issues?.[0]?.path).toHaveLength(12);
    expect(fault?.issues?.[0]?.path[0]).toHaveLength(64);
  });
});

describe('decodeFault', () => {
  test('reads what encodeFault wrote', () => {
    const fault = { code: 'C', message: 'm', issues: [{ path: ['a', 1], message: 'i' }] };
    expect(decodeFault(encodeFault(fault))).toStrictEqual({ origin: 'remote', ...fault });
    expect(decodeFault(encodeFault({ code: 'C', message: 'm' }))).toStrictEqual({
      origin: 'remote',
      code: 'C',
      message: 'm',
    });
  });

  test.each([
    ['no frame', []],
    ['the marker alone', [MARKER]],
    ['three frames', [MARKER, ...framesOf('{}', '')]],
    ['another first frame', framesOf('fault1', '{"code":"C","message":"m"}')],
    ['a first frame that only begins like the marker', [Uint8Array.of(...MARKER, 0), ...framesOf('{}')]],
    ['the marker in second place', [...framesOf('{}'), MARKER]],
  ])('is undefined for %s: that is not an error reply', (_, body) => {
    expect(decodeFault(body)).toBeUndefined();
  });

  test.each([
    ['no JSON', [MARKER, ...framesOf('{')]],
    ['no UTF-8', [MARKER, Uint8Array.of(0xff)]],
    ['nothing', [MARKER, ...framesOf('')]],
    ['null', wire(null)],
    ['no object', wire('C')],
    ['no code', wire({ message: 'm' })],
    ['no message', wire({ code: 'C' })],
    ['a code that is no text', wire({ code: 1, message: 'm' })],
    ['more than 128 KiB', wire({ code: 'C', message: 'm'.repeat(128 * 1024) })],
    ['endless nesting', [MARKER, ...framesOf('['.repeat(100_000))]],
  ])('is a failure of local origin for an error reply that holds %s', (_, body) => {
    expect(decodeFault(body)).toStrictEqual(UNREADABLE);
  });

  test('accepts no more than it would send', () => {
    const issue = { path: Array<string>(50).fill('k'), message: 'm' };
    const fault = decodeFault(wire({ code: 'c'.repeat(100), message: 'm', issues: Array<unknown>(500).fill(issue) }));
    expect(fault?.code).toHaveLength(64);
    expect(fault?.issues).toHaveLength(16);
    expect(fault?.issues?.[0]?.path).toHaveLength(12);
  });

  test('leaves out invalid issues', () => {
    const good = { path: [1, 'a'], message: 'm' };
    const bad = [
      null,
      1,
      {},
      { path: [] },
      { message: 'm' },
      { path: 'a', message: 'm' },
      { path: [{}], message: 'm' },
    ];
    expect(decodeFault(wire({ code: 'C', message: 'm', issues: [...bad, good] }))?.issues).toStrictEqual([good]);
    expect(decodeFault(wire({ code: 'C', message: 'm', issues: 'none' }))?.issues).toBeUndefined();
  });
});

describe('boundedIssues', () => {
  test('spells out keys that JSON cannot express', () => {
    const path = [Symbol('s'), { key: 'k' }, { key: Symbol('t') }, Number.NaN, 1];
    expect(boundedIssues([{ message: 'm', path }, { message: 'n' }])).toEqual([
      { path: ['Symbol(s)', 'k', 'Symbol(t)', 'NaN', 1], message: 'm' },
      { path: [], message: 'n' },
    ]);
  });
});
