/** EventMQ in proj-worker: a job manager, whose jobs have names instead of services. */
import type { Transport } from '@proj/transport';
import { EmqpJobManager } from '@proj/worker';
import type { EmqpJobManagerOptions } from '@proj/worker';
import type { WorkerSettings } from '../config.js';
import type { Protocol } from '../protocol.js';

const SAMPLE_JOBS = new URL('./jobs.mjs', import.meta.url);

/** Notes that matter only when something is wrong. */
const INFO: ReadonlySet<string> = new Set(['registered', 'left']);
const WARN: ReadonlySet<string> = new Set([
  ...['lost', 'job-failed', 'job-retried', 'job-timeout', 'job-abandoned', 'process-died', 'request-dropped'],
]);

/** The EventMQ part of proj-worker: one job manager for all queues; the broker may also end it. */
export const emqp: Protocol = {
  endpoints: ['tcp://127.0.0.1:47290'],
  offers(settings, { transport, log }) {
    const manager = new EmqpJobManager(optionsFrom(settings, transport));
    manager.on('note', ({ code, ...fields }) => {
      log[WARN.has(code) ? 'warn' : INFO.has(code) ? 'info' : 'debug'](fields, code);
    });
    manager.on('error', ({ error }) => {
      log.error({ err: error }, 'error');
    });
    const ended = new Promise<void>((resolve) => {
      manager.on('ended', () => {
        resolve();
      });
    });
    return Promise.resolve([{ worker: manager, log, ended }]);
  },
};

function optionsFrom(settings: WorkerSettings, transport: Transport): EmqpJobManagerOptions {
  const { connect, queues, directory, handler, concurrency, pool, drainMs, heartbeatMs, liveness } = settings;
  const { jobTimeoutMs, jobsPerProcess, onDisconnect } = settings;
  const beats =
    heartbeatMs === undefined ? {} : { heartbeatIntervalMs: heartbeatMs, brokerExpiryMs: heartbeatMs * liveness };
  return {
    transport,
    endpoints: connect ?? [...emqp.endpoints],
    queues: queues.map(weightAndName),
    ...(handler === undefined && directory !== undefined ? {} : { handlers: handler ?? SAMPLE_JOBS }),
    ...(directory === undefined ? {} : { directory }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(drainMs === undefined ? {} : { killGraceMs: drainMs }),
    ...beats,
    pool,
    globalTimeoutMs: jobTimeoutMs,
    maxJobsPerProcess: jobsPerProcess,
    onDisconnect,
  };
}

function weightAndName(queue: string): [weight: number, name: string] {
  const colon = queue.indexOf(':');
  return [Number(queue.slice(0, colon)), queue.slice(colon + 1)];
}
