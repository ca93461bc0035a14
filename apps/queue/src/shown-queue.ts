/** What `--http` shows of the queue, and lets be done to it. */
import type { ShownServer } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/** The queue of this name, with the state of its store as it was told last. */
export function shownQueue(queue: PzqServer, name: string, endpoints: Readonly<Record<string, string>>): ShownServer {
  let fault: { readonly code: string; readonly text: string } | undefined;
  queue.on('refusing', ({ code }) => {
    fault = { code, text: 'it is tried again until it works' };
  });
  queue.on('corrupt', ({ what }) => {
    fault = { code: 'CORRUPT', text: what };
  });
  queue.on('resumed', () => {
    fault = undefined;
  });
  /** Returns how many queues have that name: 1 or 0. */
  const act = (wanted: string, perform: () => void): number => {
    if (wanted !== name) return 0;
    perform();
    return 1;
  };
  return {
    protocol: 'pzq',
    facade: queue,
    onNote: (listener) => queue.on('note', listener),
    onRefused: (listener) => queue.on('refused', listener),
    endpoints,
    fault: () => fault,
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
