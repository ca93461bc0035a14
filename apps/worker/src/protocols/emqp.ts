/** EventMQ in proj-worker: a job manager, whose jobs have names instead of services. */
import { fromSchema, milliseconds, oneOf, text, weightedQueues, wholeNumber, wordFromSchema } from '@proj/appkit';
import type { Transport } from '@proj/transport';
import { EmqpJobManager } from '@proj/worker';
import type { EmqpJobManagerOptions } from '@proj/worker';
import { emqpJobManagerOptions } from '@proj/worker/emqp';
import * as z from 'zod';
import { usualIn } from '../protocol.js';
import type { Protocol, SettingsOf } from '../protocol.js';

const SAMPLE_JOBS = new URL('./jobs.mjs', import.meta.url);

/** Notes that matter only when something is wrong. */
const INFO: ReadonlySet<string> = new Set(['registered', 'left']);
const WARN: ReadonlySet<string> = new Set([
  ...['lost', 'job-failed', 'job-retried', 'job-timeout', 'job-abandoned', 'process-died', 'request-dropped'],
]);

/** The bounds and defaults of the job manager. */
const { shape } = emqpJobManagerOptions;

const options = z.strictObject({
  queues: weightedQueues().default(['10:default']).describe('emqp: queues to take jobs from, higher weights first'),
  directory: text('DIR', 'a folder')
    .optional()
    .describe('emqp: a folder of modules whose exports are jobs, open to anyone who reaches the broker'),
  pool: oneOf(['processes', 'threads']).default('processes').describe('emqp: where jobs run'),
  jobTimeoutMs: fromSchema(shape.globalTimeoutMs, milliseconds).describe(
    'emqp: how long a job without a limit of its own may run, 0 for ever',
  ),
  jobsPerProcess: fromSchema(shape.maxJobsPerProcess, wholeNumber).describe(
    'emqp: jobs after which a process is replaced, 0 for never',
  ),
  onDisconnect: wordFromSchema(shape.onDisconnect).describe('emqp: what to do when the broker says DISCONNECT'),
});

/** The EventMQ part of proj-worker: one job manager for all queues; the broker may also end it. */
export const emqp: Protocol<typeof options> = {
  title: 'EventMQ',
  usual: usualIn(shape.endpoints.def.defaultValue, { ...shape, drainMs: shape.killGraceMs }),
  options,
  examples: [
    {
      what: 'EventMQ: jobs of two queues, from the exports of a folder of modules',
      line: "--protocol emqp --queues '10:default,20:email' --directory ./jobs",
    },
  ],
  work: ({ queues }) => ({ queues }),
  offers(settings, { transport, log }) {
    const manager = new EmqpJobManager(optionsFrom(settings, transport));
    manager.on('note', ({ code, ...fields }) => {
      log[WARN.has(code) ? 'warn' : INFO.has(code) ? 'info' : 'debug'](fields, code);
    });
    manager.on('error', ({ error }) => {
      log.error({ err: error }, 'error');
    });
    const ended = new AbortController();
    manager.on('ended', () => {
      ended.abort();
    });
    return Promise.resolve([{ worker: manager, log, ended: ended.signal }]);
  },
};

function optionsFrom(settings: SettingsOf<typeof options>, transport: Transport): EmqpJobManagerOptions {
  const { connect, queues, directory, handler, concurrency, pool, drainMs, heartbeatMs, liveness } = settings;
  const { jobTimeoutMs, jobsPerProcess, onDisconnect } = settings;
  const beats =
    heartbeatMs === undefined ? {} : { heartbeatIntervalMs: heartbeatMs, brokerExpiryMs: heartbeatMs * liveness };
  return {
    transport,
    endpoints: connect ?? [...emqp.usual.endpoints],
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
