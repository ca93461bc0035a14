/** What `--http` shows of the queue, and lets be done to it. */
import type { ShownServer } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/**
 * The queue of this name, with what is wrong with its store: damage, or messages that it refuses. That is read from the figures, since the events come once a
 * minute; and where a probe works before each message that fails, the failures since the last look count.
 */
export function shownQueue(queue: PzqServer, name: string, endpoints: Readonly<Record<string, string>>): ShownServer {
  let code = 'the store refuses';
  let damage: string | undefined;
  let failures = 0;
  queue.on('refusing', (event) => {
    code = event.code;
  });
  queue.on('corrupt', ({ what }) => {
    damage = what;
  });
  /** Returns how many queues have that name: 1 or 0. */
  const act = (wanted: string, perform: () => void): number => {
    if (wanted !== name) return 0;
    perform();
    return 1;
  };
  const fault = (): { readonly code: string; readonly text: string } | undefined => {
    const { storeState, counters } = queue.stats();
    const hasFailed = counters.commitsFailed > failures;
    failures = counters.commitsFailed;
    if (damage !== undefined) return { code: 'CORRUPT', text: damage };
    if (storeState !== 'refusing' && !hasFailed) return undefined;
    return { code, text: 'it is tried again until it works' };
  };
  return {
    protocol: 'pzq',
    facade: queue,
    onNote: (listener) => queue.on('note', listener),
    onRefused: (listener) => queue.on('refused', listener),
    endpoints,
    fault,
    deadLetters: () => queue.deadLetters(),
    actions: {
      drainWorker: (id) => Promise.resolve(queue.drainConsumer(id)),
      pause: (wanted) => Promise.resolve(act(wanted, () => queue.pause())),
      resume: (wanted) => Promise.resolve(act(wanted, () => queue.resume())),
      purge: (wanted) => (wanted === name ? queue.purge() : Promise.resolve(undefined)),
      returnDeadLetters: (keys) => queue.returnDeadLetters(keys),
      removeDeadLetters: (keys) => queue.removeDeadLetters(keys),
    },
  };
}
