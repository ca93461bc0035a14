/** The fixed bytes, compared with the words of the specifications; a header must match exactly. */
import { fromHex, framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { COMMAND_FRAME, HEADER_FRAME, readHeader } from './wire.js';

const HEADERS = [
  ['client', '0.2', '4d4450433032'],
  ['client', '0.1', '4d4450433031'],
  ['worker', '0.2', '4d4450573032'],
  ['worker', '0.1', '4d4450573031'],
] as const;

const VALID = new Set<string>(HEADERS.map(([, , hex]) => hex));

describe('headers', () => {
  test.each(HEADERS)('%s %s is %s', (side, version, hex) => {
    expect(toHex([HEADER_FRAME[side][version]])).toEqual([hex]);
    expect(readHeader(fromHex([hex])[0]!)).toStrictEqual({ side, version });
  });

  test.each(HEADERS)('%s %s with any one byte changed is another header or none', (_side, _version, hex) => {
    const [header] = fromHex([hex]) as [Uint8Array];
    for (let at = 0; at < header.length; at++) {
      for (let byte = 0; byte <= 0xff; byte++) {
        const changed = header.with(at, byte);
        expect(readHeader(changed) !== undefined).toBe(VALID.has(toHex([changed])[0]!));
      }
    }
  });

  test('of any other length are none', () => {
    const text = 'MDPC02MDPC02';
    for (let length = 0; length <= text.length; length++) {
      expect(readHeader(framesOf(text.slice(0, length))[0]!) !== undefined).toBe(length === 6);
    }
  });
});

test('command frames contain only their number', () => {
  expect(toHex(COMMAND_FRAME)).toEqual(['00', '01', '02', '03', '04', '05', '06']);
});
