/** Asks whoever sits at the terminal before something is lost. */
import { createInterface } from 'node:readline/promises';
import { ProjError } from '@proj/client';

/** What is about to be done, and what must be typed for it. */
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

/** Resolves if the word was typed. Rejects with `OPTIONS_INVALID` where nobody can be asked, for another word and at the end of the input; with the reason of `stop` if that is aborted. */
export async function confirm({
  what,
  word,
  stop,
  input = process.stdin,
  output = process.stderr,
}: Confirmation): Promise<void> {
  if (input.isTTY !== true)
    throw new ProjError('OPTIONS_INVALID', `${what} Nobody can be asked here: confirm it with --yes.`);
  const terminal = createInterface({ input, output });
  // The terminal gives Ctrl-C to readline alone; the program has to end as it does otherwise.
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
    // Ctrl-D; the message begins a line of its own.
    output.write('\n');
  } finally {
    terminal.close();
  }
  throw new ProjError('OPTIONS_INVALID', 'not confirmed: nothing was done');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
