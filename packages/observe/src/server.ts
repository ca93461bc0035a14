/** What is observed: servers, through snapshots and the operator's actions on them. */
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

/**
 * The operator's actions on a server. Each returns how many items it affected, or `undefined` if the subject does not exist. A missing method
 * means that the server cannot do it.
 */
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
  /** In lower case, such as `mdp`; or `scheduler`. */
  readonly protocol: string;
  readonly facade: Detailed;
  /** Its endpoints, by option name. */
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Why it is not ready, for example a failing store; nothing if it is ready. */
  readonly fault?: () => { readonly code: string; readonly text: string } | undefined;
  readonly deadLetters?: () => AsyncIterable<DeadLetter>;
  readonly actions?: ServerActions;
}

/** The facade's current snapshot. A facade without details, such as a worker, shows the numbers among its statistics. */
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
