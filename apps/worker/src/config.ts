/** The options of proj-worker. */
import {
  bindEndpoints,
  connectEndpoints,
  httpOptions,
  milliseconds,
  onOff,
  oneOf,
  serviceNames,
  text,
  transportOption,
  weightedQueues,
  wholeNumber,
} from '@proj/appkit';
import * as z from 'zod';
import { BUILT_IN } from './handlers/index.js';

/** The options, one by one. */
const fields = z.strictObject({
  protocol: oneOf(['mdp', 'mdp01', 'ppp', 'emqp', 'nfp'])
    .default('mdp')
    .describe('Majordomo 0.2 or 0.1, Paranoid Pirate, EventMQ, or NORFAB'),
  connect: connectEndpoints()
    .optional()
    .describe(
      'brokers or queues, in order of preference (default: tcp://127.0.0.1:5555, with ppp tcp://127.0.0.1:5557, with emqp tcp://127.0.0.1:47290)',
    ),
  bind: bindEndpoints()
    .optional()
    .describe('ppp: endpoints to bind instead of --connect, one per unit of --concurrency, for a queue that connects'),
  service: serviceNames()
    .default(['echo'])
    .describe(
      'services to offer; with PPP, which has none, a single name chooses the handler; EventMQ has none either',
    ),
  handler: text('HANDLER', `one of ${BUILT_IN.join(', ')}, or a file`)
    .optional()
    .describe(
      `handler for all services: ${BUILT_IN.join(', ')}, or FILE, a module whose default export is a handler (default: the built-in one named like the service); with emqp a module of jobs by path.callable (default: sample jobs), with nfp a module whose exported functions are tasks (default: all built-in ones)`,
    ),
  concurrency: wholeNumber({ min: 1, max: 1000 })
    .optional()
    .describe('requests handled at the same time, per service (default: 1, with emqp 4, with nfp 5)'),
  queues: weightedQueues().default(['10:default']).describe('emqp: queues to take jobs from, higher weights first'),
  directory: text('DIR', 'a folder')
    .optional()
    .describe('emqp: a folder of modules whose exports are jobs, open to anyone who reaches the broker'),
  pool: oneOf(['processes', 'threads']).default('processes').describe('emqp: where jobs run'),
  jobTimeoutMs: milliseconds({ min: 0, max: 604_800_000 })
    .default(0)
    .describe('emqp: how long a job without a limit of its own may run, 0 for ever'),
  jobsPerProcess: wholeNumber({ min: 0 })
    .default(1024)
    .describe('emqp: jobs after which a process is replaced, 0 for never'),
  onDisconnect: oneOf(['stop', 'reconnect'])
    .default('stop')
    .describe('emqp: what to do when the broker says DISCONNECT'),
  files: text('DIR', 'a folder')
    .optional()
    .describe(
      'nfp: share the files of this folder, and nothing outside it, instead of offering other tasks (default: none)',
    ),
  baseTasks: onOff()
    .default(true)
    .describe("nfp: offer NORFAB's base tasks: list_tasks, get_inventory, job_list, get_logs, echo, ..."),
  shellCommands: onOff()
    .default(false)
    .describe(
      'nfp: also offer the task run_shell_cmd. DANGEROUS: anyone who may submit jobs can run commands as this process',
    ),
  fetchFiles: text('DIR', 'a folder')
    .optional()
    .describe(
      'nfp: folder for files that tasks fetch from the broker by nf:// URLs (default: none, and tasks cannot fetch files)',
    ),
  fetchMaxBytes: wholeNumber({ min: 1, max: 1_099_511_627_776 })
    .default(1_073_741_824)
    .describe('nfp: bytes of files in the folder of --fetch-files; the least recently used are removed'),
  name: text('NAME', '1 to 255 bytes')
    .optional()
    .describe('nfp: how clients address this worker, the same after a restart (default: SERVICE@HOST)'),
  store: text('STORE', 'lmdb:FOLDER or memory:')
    .optional()
    .describe(
      'nfp: store for jobs and results: lmdb:FOLDER or memory: (default: the folder NAME.jobs in the current directory)',
    ),
  crashPolicy: oneOf(['rerun', 'fail'])
    .default('rerun')
    .describe('nfp: what to do with jobs that were running when the worker ended'),
  resultTtlMs: milliseconds({ min: 0 }).default(604_800_000).describe('nfp: how long to keep results, 0 for ever'),
  managementCommands: onOff()
    .default(false)
    .describe('nfp: obey restart, shutdown and disconnect at mmi.service.worker, from anyone'),
  onError: oneOf(['disconnect', 'reply'])
    .default('disconnect')
    .describe('what to do when a handler throws: leave the request to another worker, or reply with an error'),
  heartbeatMs: milliseconds({ min: 1, max: 86_400_000 })
    .optional()
    .describe("heartbeat interval, the same as the broker's (default: 2500, with ppp 1000, with emqp 3000)"),
  liveness: wholeNumber({ min: 2, max: 1000 })
    .default(3)
    .describe('silent intervals after which a broker counts as lost'),
  drainMs: milliseconds({ min: 1, max: 86_400_000 })
    .optional()
    .describe('how long running requests may continue after SIGTERM (default: 10000, with emqp 300000)'),
  transport: transportOption(),
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** {@link fields}, with their mutual constraints. */
export const workerOptions = fields.superRefine(({ protocol, service, bind, connect }, context) => {
  if (bind !== undefined && protocol !== 'ppp')
    context.addIssue({ code: 'custom', path: ['bind'], message: 'needs --protocol ppp: other workers connect' });
  if (bind !== undefined && connect !== undefined)
    context.addIssue({ code: 'custom', path: ['bind'], message: 'must not be given together with --connect' });
  if ((protocol !== 'ppp' && protocol !== 'nfp') || service.length === 1) return;
  const message =
    protocol === 'ppp'
      ? 'must be a single name with --protocol ppp, which has no services and would mix them up'
      : 'must be a single name with --protocol nfp, where a worker has one service and one store';
  context.addIssue({ code: 'custom', path: ['service'], message });
});

/** The options with defaults applied. */
export type WorkerSettings = z.output<typeof workerOptions>;

/** Name of a protocol, as in `--protocol`. */
export type ProtocolName = WorkerSettings['protocol'];
