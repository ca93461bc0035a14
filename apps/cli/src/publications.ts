/** What `proj subscribe` and `proj events` wait for. */
import { ProjError } from '@proj/client';

/** How many to wait for, and for how long each; 0 is no limit. */
interface Patience {
  readonly connect: readonly string[];
  readonly count: number;
  readonly timeoutMs: number;
}

/** What a subscription brings. Rejects with `TIMEOUT` if the next one, a `what`, does not arrive in time. */
export async function* publications<Publication>(
  subscription: AsyncIterator<Publication, undefined>,
  what: string,
  { connect, count, timeoutMs }: Patience,
): AsyncGenerator<Publication> {
  for (let heard = 0; count === 0 || heard < count; heard++) {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      if (timeoutMs === 0) return;
      timer = setTimeout(() => {
        const where = connect.join(', ');
        reject(new ProjError('TIMEOUT', `no ${what} within ${timeoutMs} ms, after ${heard}, at ${where}`));
      }, timeoutMs);
    });
    const next = await Promise.race([subscription.next(), limit]).finally(() => {
      clearTimeout(timer);
    });
    if (next.done === true) return;
    yield next.value;
  }
}
