/** Paranoid Pirate in `proj`: a Lazy Pirate of one request. */
import { processTransport } from '@proj/appkit';
import { isProjError, LazyPirateClient, ProjError } from '@proj/client';
import { finish } from '../question.js';
import type { Question } from '../question.js';

const QUEUES = ['tcp://127.0.0.1:5556'];

/** Asks any worker of the queue and shows the reply. */
export async function askByPpp(question: Question): Promise<void> {
  const { connect = QUEUES, timeoutMs, tries, transport } = question.settings;
  await using client = new LazyPirateClient({
    endpoints: connect,
    timeoutMs,
    tries,
    transport: processTransport(transport),
  });
  try {
    finish(question, await client.request(question.body, { signal: question.stop }));
  } catch (error) {
    if (!isProjError(error, 'TIMEOUT')) throw error;
    // PPP has no query that would distinguish the three causes.
    const advice = `there is no queue at ${connect.join(', ')}, it has no worker, or the worker takes longer than --timeout-ms`;
    throw new ProjError('TIMEOUT', `${error.message}; ${advice}`);
  }
}
