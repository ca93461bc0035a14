/** Asks the user at the terminal before something is lost. */
import { createInterface } from 'node:readline/promises';
import { ProjError } from '@proj/client';

/** What is about to happen, and what the user must type to confirm it. */
export interface Confirmation {
  /** A sentence. */
  readonly what: string;
  readonly word: string;
  readonly stop: AbortSignal;
  /** Default: standard input. */
  readonly input?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Default: standard error. */
  readonly output?: NodeJS.WritableStream;
}

/**
 * Resolves if the user types the word. Rejects with `OPTIONS_INVALID` if no user can be asked, for another word, and at the end of the input; with the reason of `stop` if that is aborted.
 */
export async function confirm({
  what,
  word,
  stop,
  input = process.stdin,
  output = process.stderr,
}: Confirmation): Promise<void> {
  if (input.isTTY !== true)
    throw new ProjError('OPTIONS_INVALID', `${what} There is no terminal to ask at: confirm with --yes.`);
  const terminal = createInterface({ input, output });
  // The terminal sends Ctrl-C only to readline; the program must still end as usual.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  try {
    const answer = await Promise.race([
      terminal.question(`${what} Type ${word} to confirm: `, { signal: stop }),
      closed,
    ]);
    if (answer?.trim() === word) return;
    if (answer === undefined) output.write('\n');
  } catch (error) {
    stop.throwIfAborted();
    if (!isAbort(error)) throw error;
    // After Ctrl-D the message needs a new line.
    output.write('\n');
  } finally {
    terminal.close();
  }
  throw new ProjError('OPTIONS_INVALID', 'not confirmed: nothing was done');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
