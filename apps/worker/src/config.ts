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

/** The options one by one. */
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
    .describe(
      'ppp: endpoints of our own in place of --connect, one for each of --concurrency, for a queue that connects',
    ),
  service: serviceNames()
    .default(['echo'])
    .describe('services to offer; PPP has none, there a single one chooses the handler; EventMQ has none either'),
  handler: text('HANDLER', `one of ${BUILT_IN.join(', ')}, or a file`)
    .optional()
    .describe(
      `what answers: ${BUILT_IN.join(', ')}, or FILE, a module whose default export is a handler (default: the built-in one named like the service); with emqp a module of jobs by path.callable (default: sample jobs), with nfp one whose exported functions are tasks (default: all built-in ones)`,
    ),
  concurrency: wholeNumber({ min: 1, max: 1000 })
    .optional()
    .describe('requests handled at the same time, per service (default: 1, with emqp 4, with nfp 5)'),
  queues: weightedQueues().default(['10:default']).describe('emqp: queues to take jobs from, higher weights first'),
  directory: text('DIR', 'a folder')
    .optional()
    .describe('emqp: a folder of modules whose exports are jobs, for whoever reaches the broker'),
  pool: oneOf(['processes', 'threads']).default('processes').describe('emqp: what jobs run in'),
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
      'nfp: share the files of this folder, and nothing outside of it, in place of other tasks (default: none)',
    ),
  baseTasks: onOff()
    .default(true)
    .describe(
      'nfp: have the tasks that all workers of NORFAB have: list_tasks, get_inventory, job_list, get_logs, echo, ...',
    ),
  shellCommands: onOff()
    .default(false)
    .describe(
      'nfp: have the task run_shell_cmd, too. DANGEROUS: whoever may give jobs runs commands as this process does',
    ),
  fetchFiles: text('DIR', 'a folder')
    .optional()
    .describe(
      'nfp: where files are kept that tasks fetch from the broker by nf:// urls (default: none, and none can be)',
    ),
  fetchMaxBytes: wholeNumber({ min: 1, max: 1_099_511_627_776 })
    .default(1_073_741_824)
    .describe('nfp: bytes of files in the folder of --fetch-files; those used longest ago leave'),
  name: text('NAME', '1 to 255 bytes')
    .optional()
    .describe('nfp: how clients address this worker, the same after a restart (default: SERVICE@HOST)'),
  store: text('STORE', 'lmdb:FOLDER or memory:')
    .optional()
    .describe('nfp: where jobs and results live: lmdb:FOLDER or memory: (default: a folder NAME.jobs, here)'),
  crashPolicy: oneOf(['rerun', 'fail'])
    .default('rerun')
    .describe('nfp: what becomes of jobs that were running when the worker ended'),
  resultTtlMs: milliseconds({ min: 0 }).default(604_800_000).describe('nfp: how long results are kept, 0 for ever'),
  managementCommands: onOff()
    .default(false)
    .describe('nfp: obey restart, shutdown and disconnect at mmi.service.worker, from anybody'),
  onError: oneOf(['disconnect', 'reply'])
    .default('disconnect')
    .describe('when a handler throws: leave the request to another worker, or reply with an error'),
  heartbeatMs: milliseconds({ min: 1, max: 86_400_000 })
    .optional()
    .describe("heartbeat interval, the same as the broker's (default: 2500, with ppp 1000, with emqp 3000)"),
  liveness: wholeNumber({ min: 2, max: 1000 })
    .default(3)
    .describe('silent intervals after which a broker counts as lost'),
  drainMs: milliseconds({ min: 1, max: 86_400_000 })
    .optional()
    .describe('how long running requests may go on after SIGTERM (default: 10000, with emqp 300000)'),
  transport: transportOption(),
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** {@link fields}, with what they demand of each other. */
export const workerOptions = fields.superRefine(({ protocol, service, bind, connect }, context) => {
  if (bind !== undefined && protocol !== 'ppp')
    context.addIssue({ code: 'custom', path: ['bind'], message: 'needs --protocol ppp: other workers connect' });
  if (bind !== undefined && connect !== undefined)
    context.addIssue({ code: 'custom', path: ['bind'], message: 'must not be given together with --connect' });
  if ((protocol !== 'ppp' && protocol !== 'nfp') || service.length === 1) return;
  const message =
    protocol === 'ppp'
      ? 'must be a single name with --protocol ppp, which knows no services and would mix them up'
      : 'must be a single name with --protocol nfp, where a worker has one service and one store';
  context.addIssue({ code: 'custom', path: ['service'], message });
});

/** The options with defaults filled in. */
export type WorkerSettings = z.output<typeof workerOptions>;

/** Name of a protocol, as `--protocol` has it. */
export type ProtocolName = WorkerSettings['protocol'];
