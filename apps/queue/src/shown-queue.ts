/** What `--http` shows of the queue, and lets be done to it. */
import type { ShownServer } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/** The queue, with the state of its store as it was told last. */
export function shownQueue(queue: PzqServer, endpoints: Readonly<Record<string, string>>): ShownServer {
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
  return {
    protocol: 'pzq',
    facade: queue,
    onNote: (listener) => queue.on('note', listener),
    endpoints,
    fault: () => fault,
    deadLetters: () => queue.deadLetters(),
    actions: {
      returnDeadLetters: (keys) => queue.returnDeadLetters(keys),
      removeDeadLetters: (keys) => queue.removeDeadLetters(keys),
    },
  };
}
