import { describe, expect, it } from 'vitest';
import { frameForJson, frameForPeople } from './render.js';

const cases: [string, Uint8Array, string, unknown][] = [
  ['text', Buffer.from('grüß\tdich\n'), 'grüß\tdich\n', 'grüß\tdich\n'],
  ['an empty frame', new Uint8Array(0), '', ''],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0x00]), '0xff00', { hex: 'ff00' }],
  ['control characters, which could control a terminal', Buffer.from('\u001b[2J'), '0x1b5b324a', '\u001b[2J'],
  ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf]), '\ufeff', '\ufeff'],
  ['a part of a larger buffer', Buffer.from([1, 0xff, 2]).subarray(1, 2), '0xff', { hex: 'ff' }],
];

describe('frames', () => {
  it.each(cases)('show %s', (_, frame, forPeople, forJson) => {
    expect(frameForPeople(frame)).toBe(forPeople);
    expect(frameForJson(frame)).toEqual(forJson);
  });
});
