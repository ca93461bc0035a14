import { expect, test } from 'vitest';
import { isNfpName, nfpNameOf, nfpRoutingId, parseNfpTarget } from './index.js';

test.each([
  ['', { kind: 'all' }],
  ['all', { kind: 'all' }],
  ['any', { kind: 'any' }],
  ['w1', { kind: 'names', names: ['w1'], exact: 'w1' }],
  ['["w1", "w2", "w1"]', { kind: 'names', names: ['w1', 'w2'] }],
  ['[]', { kind: 'names', names: [] }],
  ['w1, w2 ,w1,', { kind: 'names', names: ['w1', 'w2'], exact: 'w1, w2 ,w1,' }],
  ['["w1"', undefined],
  ['["w1", 2]', undefined],
  ['[["w1"]]', undefined],
])('target %j', (text, target) => {
  expect(parseNfpTarget(text)).toEqual(target);
});

test('a worker is named by its routing id, in hex if that is not text', () => {
  expect(nfpNameOf(nfpRoutingId('sample-w1'))).toBe('sample-w1');
  expect(nfpNameOf(nfpRoutingId('网'))).toBe('网');
  expect(nfpNameOf(Uint8Array.of(0, 0xff))).toBe('0x00ff');
});

test.each(['', '\u007f', '\u0080', '\ud800', 'n'.repeat(256), '网'.repeat(86)])('%j is not a name', (name) => {
  expect(isNfpName(name)).toBe(false);
  expect(() => nfpRoutingId(name)).toThrow(/^worker name /);
});
