import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import { describe, expect, it } from 'vitest';
import { curveKeyPair } from 'zeromq';
import { decodeCurveKey, encodeZ85, generateCurveKeys, publicKeyOf } from './index.js';

describe('generateCurveKeys', () => {
  it('makes pairs of 32 bytes, new ones each time', () => {
    const [one, other] = [generateCurveKeys(), generateCurveKeys()];

    expect([one.publicKey.length, one.secretKey.length]).toEqual([32, 32]);
    expect(encodeZ85(one.secretKey)).not.toBe(encodeZ85(other.secretKey));
    expect(publicKeyOf(one.secretKey)).toEqual(one.publicKey);
  });
});

describe('publicKeyOf', () => {
  it.runIf(HAS_LIBZMQ)('agrees with libzmq', () => {
    const pair = curveKeyPair();

    expect(encodeZ85(publicKeyOf(decodeCurveKey(pair.secretKey)!))).toBe(pair.publicKey);
  });
});
