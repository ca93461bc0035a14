/** What `--http` shows of the queue and lets an operator do. */
import type { ShownServer } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/** How long a failed commit is shown as a fault, so that several readers get the same answer. */
const FAULT_MS = 5000;

/**
 * The queue of this name, with the faults of its store: damage, or refused messages. They are read from the counters, since the events come only once a
 * minute. Because a probe may succeed before each message that fails, a failure counts for {@link FAULT_MS} after it was seen.
 */
export function shownQueue(
  queue: PzqServer,
  name: string,
  endpoints: Readonly<Record<string, string>>,
  now: () => number = () => performance.now(),
): ShownServer {
  let code = 'the store refuses';
  let damage: string | undefined;
  let failures = 0;
  let failedAt = -Infinity;
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
    if (counters.commitsFailed > failures) failedAt = now();
    failures = counters.commitsFailed;
    if (damage !== undefined) return { code: 'CORRUPT', text: damage };
    if (storeState !== 'refusing' && now() - failedAt >= FAULT_MS) return undefined;
    return { code, text: 'it is retried until it works' };
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
      drainWorker: (id) => queue.drainConsumer(id),
      pause: (wanted) => act(wanted, () => queue.pause()),
      resume: (wanted) => act(wanted, () => queue.resume()),
      purge: (wanted) => (wanted === name ? queue.purge() : undefined),
      returnDeadLetters: (keys) => queue.returnDeadLetters(keys),
      removeDeadLetters: (keys) => queue.removeDeadLetters(keys),
    },
  };
}
