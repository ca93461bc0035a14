import { describe, expect, it } from 'vitest';
import { measureText } from './text-stats.js';

describe('measureText', () => {
  it.each([
    ['no text', '', { bytes: 0, lines: 0, words: 0, longestLine: 0 }],
    ['an empty line', '\n', { bytes: 1, lines: 1, words: 0, longestLine: 0 }],
    ['a line without line feed', 'one two', { bytes: 7, lines: 1, words: 2, longestLine: 7 }],
    ['several lines', 'a\n bcd\t e\n\nf', { bytes: 12, lines: 4, words: 4, longestLine: 7 }],
    ['carriage returns as white space', 'a\r\nb\r\n', { bytes: 6, lines: 2, words: 2, longestLine: 2 }],
    ['more bytes than characters', 'ü\n', { bytes: 3, lines: 1, words: 1, longestLine: 2 }],
  ])('measures %s', (_, text, stats) => {
    expect(measureText(Buffer.from(text))).toEqual(stats);
  });
});
