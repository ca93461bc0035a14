/** What is observed: servers, by snapshots of what they do and by what an operator may do to them. */
import type { ServerSnapshot } from '@proj/transport/engine';

/** A facade of this project: anything whose `stats({ detail: true })` has a {@link ServerSnapshot} in `detail`. */
export interface Detailed {
  stats(options: { readonly detail: true }): object | undefined;
}

/** A dead letter, as `PzqServer.deadLetters` lists it. */
export interface DeadLetter {
  readonly key: string;
  readonly reason: string;
  readonly deliveries: number;
  /** Microseconds since 1970. */
  readonly diedMicros: number;
  readonly body: readonly Uint8Array[];
}

/** What can be done to a server. Each says how many it concerned, or to nothing if there is no such subject; what is absent, this server cannot do. */
export interface ServerActions {
  readonly drainWorker?: (id: string) => number | Promise<number>;
  readonly disconnectWorker?: (id: string) => number | Promise<number>;
  readonly drainService?: (name: string) => number | Promise<number>;
  readonly pause?: (name: string) => number | Promise<number>;
  readonly resume?: (name: string) => number | Promise<number>;
  readonly purge?: (name: string) => number | undefined | Promise<number | undefined>;
  readonly returnDeadLetters?: (keys: Iterable<string>) => Promise<void>;
  readonly removeDeadLetters?: (keys: Iterable<string>) => Promise<void>;
}

/** A server to observe. */
export interface ObservedServer {
  /** `mdp`, `ppp`, `nfp`, `emqp`, `pzq` or `scheduler`. */
  readonly protocol: string;
  readonly facade: Detailed;
  /** Where it is bound, by the name of the option. */
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Why it is not ready, such as a store that refuses; nothing if it is. */
  readonly fault?: () => { readonly code: string; readonly text: string } | undefined;
  readonly deadLetters?: () => AsyncIterable<DeadLetter>;
  readonly actions?: ServerActions;
}

/** What the facade shows now. One without details, such as a worker, shows the numbers among its statistics. */
export function snapshotOf(protocol: string, facade: Detailed): ServerSnapshot {
  const stats = (facade.stats({ detail: true }) ?? {}) as Readonly<Record<string, unknown>>;
  if (isSnapshot(stats['detail'])) return stats['detail'];
  const { counters, ...rest } = stats;
  const totals = Object.entries<unknown>((counters ?? {}) as Readonly<Record<string, unknown>>);
  const dropped = totals.flatMap(([, value]) =>
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  return {
    protocol,
    counters: numbersOf(totals),
    dropped: numbersOf(dropped),
    gauges: numbersOf(Object.entries(rest)),
    services: [],
    workers: [],
    clients: [],
    refused: numbersOf(Object.entries((stats['refused'] ?? {}) as Readonly<Record<string, unknown>>)),
  };
}

function isSnapshot(value: unknown): value is ServerSnapshot {
  return typeof value === 'object' && value !== null && 'services' in value && 'workers' in value;
}

function numbersOf(entries: readonly (readonly [string, unknown])[]): Record<string, number> {
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}
