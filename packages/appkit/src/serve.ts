/** The life of a program that serves: shown over HTTP, logged, and drained when it shall end. */
import { show } from './http.js';
import type { HttpSettings, ShownProgram } from './http.js';
import { every } from './periodic.js';
import type { Context } from './program.js';
import { untilStopped } from './signals.js';

/** What a program serves. */
export interface Service extends Pick<ShownProgram, 'servers' | 'memory'> {
  /** Called once the program is shown, with its HTTP address; resolves to the fields of the line `listening`, or to nothing if it was stopped. */
  readonly listening: (url: string | undefined) => object | undefined | Promise<object | undefined>;
  /** A warning at the start. */
  readonly warning?: readonly [fields: object, message: string] | undefined;
  /** Logs its counters, at level debug. */
  readonly logStats: () => void;
  /** What ends it, beyond signals and HTTP. */
  readonly ends?: readonly AbortSignal[];
  /** Ends it with its reason as the error. */
  readonly failure?: AbortSignal;
  /** Lets running work finish, and closes. Idempotent. */
  readonly drain: () => Promise<unknown>;
  /** Fields of the line `drained`. */
  readonly drained?: () => object;
}

/** Serves until a signal, HTTP or the service itself ends it. Resolves to the exit code; rejects with the reason of its failure. */
export async function serveUntilEnded(
  { program: { name, version }, settings, log, stop, serving }: Context<HttpSettings & { readonly statsMs: number }>,
  service: Service,
): Promise<number> {
  const { servers, memory, logStats, ends = [], failure, drain } = service;
  const ended = new AbortController();
  const onDrain = () => {
    ended.abort();
  };
  const about = { name, version, servers, log, onDrain, ...(memory === undefined ? {} : { memory }) };
  const shown = await show(settings, about).catch(async (error: unknown) => {
    await drain();
    throw error;
  });
  const fields = await service.listening(shown.url);
  if (fields !== undefined) {
    log.info(fields, 'listening');
    serving();
    if (service.warning !== undefined) log.warn(...service.warning);
  }
  const endStats = every(settings.statsMs, logStats);
  await untilStopped(AbortSignal.any([stop, ended.signal, ...ends, ...(failure === undefined ? [] : [failure])]));
  endStats();
  log.info('draining');
  shown.draining();
  await drain();
  await shown.close();
  logStats();
  failure?.throwIfAborted();
  log.info(service.drained?.() ?? {}, 'drained');
  return 0;
}
