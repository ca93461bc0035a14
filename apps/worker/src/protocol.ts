/** What a protocol contributes to proj-worker: its own options, and its workers. One file per protocol in `protocols/`. */
import { connectEndpoints, oneOf, serviceNames, text, wholeNumber, withinADay } from '@proj/appkit';
import type { Logger, WatchedRecords } from '@proj/appkit';
import { encodeFault } from '@proj/frames/service';
import type { Transport } from '@proj/transport';
import * as z from 'zod';
import { observed } from './handlers/implementation.js';
import type { Implementation } from './handlers/implementation.js';
import { BUILT_IN, findHandler } from './handlers/index.js';

/** The defaults of a protocol. */
export interface Usual {
  /** Where workers connect. */
  readonly endpoints: readonly string[];
  readonly concurrency: number;
  readonly heartbeatMs: number;
  readonly drainMs: number;
}

type Defaulted = z.ZodDefault<z.ZodNumber>;

/** Those of a worker's schema. */
export function usualIn(
  endpoints: readonly string[],
  schema: Readonly<Record<'concurrency' | 'heartbeatIntervalMs' | 'drainMs', Defaulted>>,
): Usual {
  return {
    endpoints,
    concurrency: schema.concurrency.def.defaultValue,
    heartbeatMs: schema.heartbeatIntervalMs.def.defaultValue,
    drainMs: schema.drainMs.def.defaultValue,
  };
}

/** Options that mean the same in every protocol. `usualOf` tells the defaults of all protocols. */
export const sharedOptions = (usualOf: (value: keyof Usual) => string) =>
  z.strictObject({
    connect: connectEndpoints()
      .optional()
      .describe(`brokers or queues, in order of preference (default: ${usualOf('endpoints')})`),
    service: serviceNames()
      .default(['echo'])
      .describe('services to offer; in a protocol without services, a single name chooses the handler'),
    handler: text('HANDLER', `one of ${BUILT_IN.join(', ')}, or a file`)
      .optional()
      .describe(
        `handler for all services: ${BUILT_IN.join(', ')}, or FILE, a module whose default export is a handler, with emqp a module of jobs by path.callable, with nfp a module whose exported functions are tasks (default: the built-in one named like the service, with emqp sample jobs, with nfp all built-in tasks)`,
      ),
    concurrency: wholeNumber({ min: 1, max: 1000 })
      .optional()
      .describe(`requests handled at the same time, per service (default: ${usualOf('concurrency')})`),
    onError: oneOf(['disconnect', 'reply'])
      .default('disconnect')
      .describe('what to do when a handler throws: leave the request to another worker, or reply with an error'),
    heartbeatMs: withinADay()
      .optional()
      .describe(`heartbeat interval, the same as the broker's (default: ${usualOf('heartbeatMs')})`),
    liveness: wholeNumber({ min: 2, max: 1000 })
      .default(3)
      .describe('silent intervals after which a broker counts as lost'),
    drainMs: withinADay()
      .optional()
      .describe(`how long running requests may continue after SIGTERM (default: ${usualOf('drainMs')})`),
  });

/** Values of the {@link sharedOptions}. */
export type SharedSettings = z.output<ReturnType<typeof sharedOptions>>;

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
  /** Its store outside of memory: the program is not ready while writes to it fail. */
  readonly store?: WatchedRecords | undefined;
  /** Aborts if something other than a signal ends the worker. Default: nothing does. */
  readonly ended?: AbortSignal;
}

/** Values of the shared options and of a protocol's own. */
export type SettingsOf<Options extends z.ZodObject> = SharedSettings & Pick<z.output<Options>, keyof Options['shape']>;

/** A protocol of proj-worker, with its own options beyond the shared ones. */
export interface Protocol<Options extends z.ZodObject = z.ZodObject> {
  /** For people. */
  readonly title: string;
  readonly usual: Usual;
  /** Named so that they do not clash with those of other protocols. */
  readonly options: Options;
  /** Command lines for `--help`. */
  readonly examples?: readonly { readonly what: string; readonly line: string }[];
  /** Options that do not fit each other, and why. `isChosen`: `--protocol` names this one. */
  refusals?(settings: SettingsOf<Options>, isChosen: boolean): Iterable<readonly [string, string]>;
  /** What its workers do, for a log line. Default: the services. */
  work?(settings: SettingsOf<Options>): object;
  /** Creates the workers for these settings; each one logs its events. Rejects with `OPTIONS_INVALID`. */
  offers(settings: SettingsOf<Options>, surroundings: Surroundings): Promise<readonly Offer[]>;
}

/** A worker of a protocol with one handler per service. */
type HandlerWorker = Worker & {
  on(event: 'note', listener: ReturnType<typeof loggingTo>['note']): unknown;
  on(event: 'error', listener: ReturnType<typeof loggingTo>['error']): unknown;
};

/** One worker for each service of the settings, created by `construct`. */
export function offersByService(
  settings: SharedSettings,
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
export function commonOptions(settings: SharedSettings) {
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
