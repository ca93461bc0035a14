import { describe, expect, it } from 'vitest';
import { Access } from './access.js';
import { encodeZ85 } from './curve/z85.js';

const keyOf = (byte: number) => new Uint8Array(32).fill(byte);
const textOf = (byte: number) => encodeZ85(keyOf(byte));
const [ADA, BOB] = [{ publicKey: keyOf(1) }, { publicKey: keyOf(2) }];
const NOBODY = {};

describe('access', () => {
  it('refuses everything without rules', () => {
    const access = new Access([]);
    expect(access.allows(ADA, 'request', 'echo')).toBe(false);
    expect(access.allows(NOBODY, 'serve', '')).toBe(false);
  });

  it('allows a key what its rule names, and nobody else', () => {
    const access = new Access([{ keys: [textOf(1)], request: ['echo'] }]);
    expect(access.allows(ADA, 'request', 'echo')).toBe(true);
    expect(access.allows(BOB, 'request', 'echo')).toBe(false);
    expect(access.allows(NOBODY, 'request', 'echo')).toBe(false);
  });

  it('distinguishes calling from serving', () => {
    const access = new Access([{ keys: [textOf(1)], serve: ['echo'] }]);
    expect(access.allows(ADA, 'serve', 'echo')).toBe(true);
    expect(access.allows(ADA, 'request', 'echo')).toBe(false);
  });

  it('recognizes a key by its bytes, whichever object holds them', () => {
    const access = new Access([{ keys: [textOf(1)], request: ['echo'] }]);
    expect(access.allows({ publicKey: keyOf(1) }, 'request', 'echo')).toBe(true);
    expect(access.allows({ publicKey: Uint8Array.from(keyOf(1)) }, 'request', 'echo')).toBe(true);
  });

  it('treats a name with a star at its end as all names with that prefix', () => {
    const access = new Access([{ keys: '*', request: ['mmi.*', 'files.read.*'] }]);
    const allowed = ['mmi.', 'mmi.service', 'files.read.', 'files.read.a'];
    const refused = ['mmi', 'mm', '', 'files.read', 'files.write.a', 'xmmi.service'];
    expect(allowed.filter((name) => !access.allows(NOBODY, 'request', name))).toEqual([]);
    expect(refused.filter((name) => access.allows(NOBODY, 'request', name))).toEqual([]);
  });

  it('takes a star elsewhere literally', () => {
    const access = new Access([{ keys: '*', request: ['a*b'] }]);
    expect(access.allows(NOBODY, 'request', 'a*b')).toBe(true);
    expect(access.allows(NOBODY, 'request', 'axb')).toBe(false);
  });

  it('combines what several rules allow a key and what everybody may do', () => {
    const access = new Access([
      { keys: [textOf(1), textOf(2)], request: ['a'] },
      { keys: [textOf(1)], request: ['b*'] },
      { keys: '*', request: ['c'] },
    ]);
    expect(['a', 'b', 'bb', 'c', 'd'].map((name) => access.allows(ADA, 'request', name))).toEqual([
      ...[true, true, true, true, false],
    ]);
    expect(['a', 'b', 'c'].map((name) => access.allows(BOB, 'request', name))).toEqual([true, false, true]);
  });

  it('says whether it needs the keys of peers', () => {
    expect(new Access([{ keys: '*', request: ['*'] }]).namesKeys).toBe(false);
    expect(new Access([{ keys: [], request: ['*'] }]).namesKeys).toBe(false);
    expect(new Access([{ keys: [textOf(1)], request: ['*'] }]).namesKeys).toBe(true);
  });

  it('treats names of object properties like other names', () => {
    const access = new Access([{ keys: '*', request: ['echo'] }]);
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(access.allows(ADA, 'request', name)).toBe(false);
  });
});
