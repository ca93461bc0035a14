/** Paranoid Pirate in `proj`: a Lazy Pirate of one request. */
import { processTransport } from '@proj/appkit';
import { isProjError, LazyPirateClient, ProjError } from '@proj/client';
import { finish } from '../question.js';
import type { Question } from '../question.js';
import type { Callable } from './index.js';

/** The part of `proj call` that speaks it. */
export const ppp: Callable = {
  title: 'Paranoid Pirate, which has no services: every word is a frame',
  endpoint: 'tcp://127.0.0.1:5556',
  hasServices: false,
  without: {
    failFast: 'must be off with --protocol ppp, which has no services to ask about',
    stream: 'must be off with --protocol ppp, which has no partial replies',
  },
  examples: [{ what: 'one frame of text to any worker of a Paranoid Pirate queue', line: '--protocol ppp hello' }],
  ask,
};

/** Asks any worker of the queue and shows the reply. */
async function ask(question: Question): Promise<void> {
  const { connect = [ppp.endpoint], timeoutMs, tries, transport } = question.settings;
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
