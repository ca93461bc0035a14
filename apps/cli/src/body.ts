/** Makes the frames or arguments of a request from the words of a command line. */
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

/** The operand for positional arguments of a job. */
export const argumentOperand = {
  syntax: '[args...]',
  help: 'positional arguments: JSON or, if a word is not valid JSON, text; \'"3"\' is the text 3',
} as const;

/** The value of a word: JSON, or text if it is not valid JSON. */
export function argumentOf(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** The value of `--kwargs`. Throws `OPTIONS_INVALID` for anything but an object. */
export function kwargsOf(json: string): Record<string, unknown> {
  const value = argumentOf(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ProjError('OPTIONS_INVALID', `--kwargs = ${json}: must be a JSON object such as {"a": 1}`);
}
