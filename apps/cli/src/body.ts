/** Makes the frames of a request from the words of a command line. */
import { readFile } from 'node:fs/promises';
import { ProjError } from '@proj/client';

/**
 * One frame per word: `-` is all of standard input, `@file` the bytes of a file, `@@text` the text after the first `@`,
 * and anything else the word itself as UTF-8. Without words there is one empty frame, since a request has at least one.
 * Rejects with `OPTIONS_INVALID` for a file that cannot be read or a second `-`.
 */
export async function readBody(words: readonly string[], readInput: () => Promise<Buffer>): Promise<Buffer[]> {
  if (words.indexOf('-') !== words.lastIndexOf('-'))
    throw new ProjError('OPTIONS_INVALID', 'body "-" given twice: standard input can be read only once');
  if (words.length === 0) return [Buffer.alloc(0)];
  return await Promise.all(words.map((word) => readFrame(word, readInput)));
}

async function readFrame(word: string, readInput: () => Promise<Buffer>): Promise<Buffer> {
  if (word === '-') return await readInput();
  if (word.startsWith('@@')) return Buffer.from(word.slice(1));
  if (!word.startsWith('@')) return Buffer.from(word);
  try {
    return await readFile(word.slice(1));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ProjError('OPTIONS_INVALID', `body "${word}": must be @ and a readable file (${code ?? String(error)})`);
  }
}

/** Reads standard input to its end. */
export async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
