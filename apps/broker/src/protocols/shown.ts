/** What `--http` shows of a broker and lets an operator do, the same for every protocol with workers. */
import type { ShownServer } from '@proj/appkit';
import type { Server } from '../protocol.js';

type Listener<Adds extends 'onNote' | 'onRefused'> = Parameters<NonNullable<ShownServer[Adds]>>[0];

/** The part of a broker facade that `--http` shows. */
interface Workshop {
  disconnectWorker(id: string): number;
  drainWorker(id: string): number;
  stats(options: { readonly detail: true }): object;
  on(event: 'note', listener: Listener<'onNote'>): unknown;
  on(event: 'refused', listener: Listener<'onRefused'>): unknown;
}

/** `more`: actions beyond removing workers. */
export function shownOf(broker: Workshop, more: ShownServer['actions'] = {}): Server['shown'] {
  return {
    facade: broker,
    onNote: (listener) => broker.on('note', listener),
    onRefused: (listener) => broker.on('refused', listener),
    actions: {
      disconnectWorker: (id) => broker.disconnectWorker(id),
      drainWorker: (id) => broker.drainWorker(id),
      ...more,
    },
  };
}
