/** PZQ server: the engine's calls to the store. Each answer becomes an event. Rule 25 of docs/protocols/pzq.md. */
import { isProjError } from '@proj/transport';
import type { PzqEffect, PzqEvent } from './engine/events.js';
import type { QueueStore } from './store/store.js';

/** An effect that the store performs. */
export type StoreEffect = Extract<
  PzqEffect,
  { kind: 'commit' | 'load' | 'due' | 'probe' | 'take' | 'release' | 'extend' }
>;

const READERS = { queue: 'scan', 'dead-letters': 'dead' } as const;

/** Calls the store, and dispatches its answer or failure. A store that throws instead of rejecting has also failed. */
export function callStore(store: QueueStore, effect: StoreEffect, dispatch: (event: PzqEvent) => void): void {
  const tell = (event: PzqEvent | undefined): void => {
    if (event !== undefined) dispatch(event);
  };
  void answerOf(store, effect).then(tell, (error: unknown) => {
    tell(failureOf(effect, error));
  });
}

async function answerOf(store: QueueStore, effect: StoreEffect): Promise<PzqEvent | undefined> {
  switch (effect.kind) {
    case 'commit':
      return { kind: 'committed', result: await store.commit(effect.batch) };
    case 'load': {
      const { outlet, after, limit, maxBytes } = effect;
      return { kind: 'loaded', outlet, messages: await store[READERS[outlet]](after, limit, maxBytes) };
    }
    case 'due':
      return { kind: 'due', messages: await store.due(effect.nowMicros, effect.limit) };
    case 'probe':
      await store.probe();
      return { kind: 'probed' };
    case 'take': {
      const { limit, maxBytes, leaseMs } = effect;
      return { kind: 'taken', messages: await leasesOf(store).take(limit, maxBytes, leaseMs) };
    }
    case 'release':
      await leasesOf(store).release(effect.seqs, effect.delayMs);
      return undefined;
    case 'extend':
      await leasesOf(store).extend(effect.seqs, effect.leaseMs);
      return undefined;
  }
}

function failureOf(effect: StoreEffect, error: unknown): PzqEvent | undefined {
  const failure = { code: codeOf(error), what: error instanceof Error ? error.message : String(error) };
  switch (effect.kind) {
    case 'load':
      return { kind: 'load-failed', outlet: effect.outlet, ...failure };
    case 'release':
    case 'extend':
      // The lease ends by itself.
      return undefined;
    default:
      return { kind: `${effect.kind}-failed`, ...failure };
  }
}

function leasesOf({ name, leases }: QueueStore): NonNullable<QueueStore['leases']> {
  if (leases === undefined) throw new Error(`the ${name} store has no leases`);
  return leases;
}

/** The code that producers and the log get, such as `ENOSPC`. */
function codeOf(error: unknown): string {
  const { details, code } = (error ?? {}) as {
    readonly details?: { readonly code?: unknown };
    readonly code?: unknown;
  };
  const told = isProjError(error) ? (details?.code ?? code) : code;
  return typeof told === 'string' && /^[\x21-\x7e]{1,64}$/.test(told) ? told : 'UNKNOWN';
}
