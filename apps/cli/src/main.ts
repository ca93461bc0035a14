/** proj: the operator's command. */
import { runProgram } from '@proj/appkit';
import manifest from '../package.json' with { type: 'json' };
import { call } from './call.js';
import { completionOf } from './completion.js';
import { dead } from './dead.js';
import { decode } from './decode.js';
import { defer } from './defer.js';
import { events } from './events.js';
import { fetch } from './fetch.js';
import { deleteJob, get, post } from './jobs.js';
import { keygen } from './keygen.js';
import { services, workers } from './listings.js';
import { monitor } from './monitor.js';
import { publish } from './publish.js';
import { pull } from './pull.js';
import { purge } from './purge.js';
import { push } from './push.js';
import { jobs } from './recorded-jobs.js';
import { queue } from './queue.js';
import { schedule, unschedule } from './schedule.js';
import { stats } from './stats.js';
import { status } from './status.js';
import { subscribe } from './subscribe.js';
import { top } from './top.js';
import { trace } from './trace.js';

const commands = [
  call,
  services,
  workers,
  status,
  post,
  get,
  deleteJob,
  jobs,
  fetch,
  events,
  push,
  pull,
  monitor,
  top,
  stats,
  queue,
  dead,
  purge,
  publish,
  subscribe,
  defer,
  schedule,
  unschedule,
  decode,
  trace,
  keygen,
] as const;

await runProgram({
  name: 'proj',
  version: manifest.version,
  summary: 'Calls services, inspects brokers, fills and empties queues.',
  envPrefix: 'PROJ_CLI_',
  // Standard output is only for results.
  logging: { fd: 2, level: 'warn' },
  commands: [...commands, completionOf(commands)],
});
