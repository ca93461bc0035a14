/** Asks whoever sits at the terminal before something is lost. */
import { createInterface } from 'node:readline/promises';
import { ProjError } from '@proj/client';

/** What is about to be done, and what must be typed for it. */
export interface Confirmation {
  /** A sentence. */
  readonly what: string;
  readonly word: string;
  readonly stop: AbortSignal;
}

/** Resolves if the word was typed. Rejects with `OPTIONS_INVALID` where nobody can be asked, and for another word. */
export async function confirm({ what, word, stop }: Confirmation): Promise<void> {
  if (!process.stdin.isTTY)
    throw new ProjError('OPTIONS_INVALID', `${what} Nobody can be asked here: confirm it with --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${what} Type ${word} to confirm: `, { signal: stop });
    if (answer.trim() !== word) throw new ProjError('OPTIONS_INVALID', `not confirmed: nothing was done`);
  } finally {
    terminal.close();
  }
}
