import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readBody } from './body.js';

const input = () => Promise.resolve(Buffer.from('from stdin'));
const self = fileURLToPath(import.meta.url);

describe('readBody', () => {
  it.each<[string, string[], Buffer[]]>([
    ['no word as one empty frame', [], [Buffer.alloc(0)]],
    ['a word as its UTF-8', ['grüß'], [Buffer.from('grüß')]],
    ['an empty word as an empty frame', ['', 'a'], [Buffer.alloc(0), Buffer.from('a')]],
    ['- as standard input', ['a', '-'], [Buffer.from('a'), Buffer.from('from stdin')]],
    ['@file as the bytes of the file', [`@${self}`], [readFileSync(self)]],
    ['@@ as a literal @', ['@@me', '@@'], [Buffer.from('@me'), Buffer.from('@')]],
  ])('reads %s', async (_, words, frames) => {
    expect(await readBody(words, input)).toEqual(frames);
  });

  it.each([
    ['a file that does not exist', ['@/no/such'], 'body "@/no/such": must be @ and a readable file (ENOENT)'],
    ['standard input twice', ['-', '-'], 'body "-" given twice'],
  ])('refuses %s', async (_, words, line) => {
    await expect(readBody(words, input)).rejects.toThrow(line);
    await expect(readBody(words, input)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});
