/** What a protocol brings to proj-worker. One file per protocol in `protocols/`. */
import type { Logger } from '@proj/appkit';
import { encodeFault } from '@proj/frames/service';
import type { Transport } from '@proj/transport';
import type { WorkerSettings } from './config.js';
import type { Implementation } from './handlers/implementation.js';

/** A worker of any protocol. */
export interface Worker {
  start(): Promise<void>;
  /** Lets running requests finish, leaves, closes. */
  drain(): Promise<void>;
  /** Plain data for a log line. */
  stats(): object;
}

/** What a worker is made with. */
export interface Surroundings {
  readonly transport: Transport;
  readonly log: Logger;
}

/** A protocol of proj-worker. */
export interface Protocol {
  /** Where to connect unless told otherwise. */
  readonly endpoints: readonly string[];
  /** A worker for one service that logs what happens to it; not started yet. Throws `OPTIONS_INVALID`. */
  worker(service: string, implementation: Implementation, settings: WorkerSettings, surroundings: Surroundings): Worker;
}

/** The options that workers of every protocol have by the same name. Unset ones keep to the protocol's own default. */
export function commonOptions(settings: WorkerSettings) {
  const { concurrency, liveness, drainMs, heartbeatMs, onError } = settings;
  return {
    liveness,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(drainMs === undefined ? {} : { drainMs }),
    ...(heartbeatMs === undefined ? {} : { heartbeatIntervalMs: heartbeatMs }),
    ...(onError === 'reply' ? { onError: asFault } : {}),
  };
}

/** The error reply of typed services, which our clients understand for any service. */
function asFault(error: unknown): Uint8Array[] {
  return encodeFault({ code: 'HANDLER_FAILED', message: error instanceof Error ? error.message : String(error) });
}

/** Listeners that log what happens to a worker. */
export function loggingTo(log: Logger) {
  return {
    note: ({ session, note: { code, ...fields } }: { readonly session: number; readonly note: { code: string } }) => {
      log[levelOf(code)]({ session, ...fields }, code);
    },
    error: ({ session, error }: { readonly session: number; readonly error: unknown }) => {
      log.error({ session, err: error }, 'handler failed');
    },
  };
}

function levelOf(code: string): 'debug' | 'info' | 'warn' {
  if (code === 'lost') return 'warn';
  return code === 'ready' || code === 'left' ? 'info' : 'debug';
}
