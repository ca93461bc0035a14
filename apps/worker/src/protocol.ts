/** What a protocol contributes to proj-worker. One file per protocol in `protocols/`. */
import type { Logger } from '@proj/appkit';
import { encodeFault } from '@proj/frames/service';
import type { Transport } from '@proj/transport';
import type { WorkerSettings } from './config.js';
import { observed } from './handlers/implementation.js';
import type { Implementation } from './handlers/implementation.js';
import { findHandler } from './handlers/index.js';

/** A worker of any protocol. */
export interface Worker {
  start(): Promise<void>;
  /** Lets running requests finish, says goodbye, closes. */
  drain(): Promise<void>;
  /** Plain data for a log line; absent before the start. */
  stats(): object | undefined;
}

/** What is needed to create a worker. */
export interface Surroundings {
  readonly transport: Transport;
  readonly log: Logger;
}

/** One worker of proj-worker, not started yet. */
export interface Offer {
  readonly worker: Worker;
  readonly log: Logger;
  /** Resolves if something other than a signal ends the worker. Default: nothing does. */
  readonly ended?: Promise<void>;
}

/** A protocol of proj-worker. */
export interface Protocol {
  /** Where to connect by default. */
  readonly endpoints: readonly string[];
  /** Creates the workers for these settings; each one logs its events. Rejects with `OPTIONS_INVALID`. */
  offers(settings: WorkerSettings, surroundings: Surroundings): Promise<readonly Offer[]>;
}

/** A worker of a protocol with one handler per service, such as Majordomo and Paranoid Pirate. */
type HandlerWorker = Worker & {
  on(event: 'note', listener: ReturnType<typeof loggingTo>['note']): unknown;
  on(event: 'error', listener: ReturnType<typeof loggingTo>['error']): unknown;
};

/** One worker for each service of the settings, created by `construct`. */
export function offersByService(
  settings: WorkerSettings,
  { log }: Surroundings,
  construct: (service: string, implementation: Implementation) => HandlerWorker,
): Promise<Offer[]> {
  return Promise.all(
    settings.service.map(async (service) => {
      const child = log.child({ service });
      const onRequest = () => {
        child.debug('request');
      };
      const worker = construct(service, observed(await findHandler(service, settings.handler), onRequest));
      const { note, error } = loggingTo(child);
      worker.on('note', note);
      worker.on('error', error);
      return { worker, log: child };
    }),
  );
}

/**
 * The options that workers of every protocol have under the same name. If unset, the protocol's own default applies.
 */
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

/** Listeners that log the events of a worker. */
function loggingTo(log: Logger) {
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
