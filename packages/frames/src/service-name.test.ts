import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { isServiceName, readServiceName, writeServiceName } from './service-name.js';

const GOOD = [' ', '~', 'echo', 'mmi.service', 'n'.repeat(255)];
const BAD = ['', 'n'.repeat(256), '\x1f', '\x7f', 'tab\t', 'é', '名'];

describe('service names', () => {
  test.each(GOOD)('%j is one', (name) => {
    expect(isServiceName(name)).toBe(true);
    expect(toHex([writeServiceName(name)])).toEqual(toHex(framesOf(name)));
    expect(readServiceName(framesOf(name)[0]!)).toBe(name);
  });

  test.each(BAD)('%j is none', (name) => {
    expect(isServiceName(name)).toBe(false);
    expect(readServiceName(framesOf(name)[0]!)).toBeUndefined();
    expect(() => writeServiceName(name)).toThrow(RangeError);
  });

  test('none is mistaken for another, whatever came before it', () => {
    const ends = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
    const names = ends.flatMap((first) => ends.flatMap((last) => [first + last, `${first}x${last}`]));
    for (const name of names) expect(toHex([writeServiceName(name)])).toEqual(toHex(framesOf(name)));
    for (const name of names) expect(readServiceName(framesOf(name)[0]!)).toBe(name);
    for (const name of names) expect(readServiceName(writeServiceName(name))).toBe(name);
  });

  test('the refusal quotes the name, cut to a readable length', () => {
    expect(() => writeServiceName('a\nb')).toThrow('service name "a\\nb": must be 1 to 255 printable ASCII characters');
    expect(() => writeServiceName('n'.repeat(1e6))).toThrow(`service name "${'n'.repeat(40)}...": must be`);
  });
});
