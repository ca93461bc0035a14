/**
 * Tasks that every NFP worker has, with NORFAB's names and shapes: its tools use them to learn what a worker can do and does. Worker rule 18 of
 * docs/protocols/nfp.md.
 */
import type { DeletedFiles } from '@proj/files';
import { cTime } from '@proj/frames/nfp';
import type { NfpLogBook } from '@proj/frames/nfp';
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { InventoryState } from '../broker-services.js';
import type { NfpKwargs, NfpTaskCall, NfpTaskContext } from '../task.js';
import { readArguments, schemaOf } from './catalogue.js';
import type { BaseTask, NfpTaskRow, Parameters, Values } from './catalogue.js';
import type { NfpJobFilter, NfpJobRow } from './job-rows.js';
import { runShell } from './shell.js';

/** What base tasks need from their worker. */
export interface BaseTasksHost {
  readonly name: string;
  readonly service: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly shellCommands: boolean;
  readonly logs: NfpLogBook;
  clock(): Clock;
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Milliseconds since the start. */
  uptimeMs(): number;
  inventoryState(): InventoryState;
  /** All tasks as `list_tasks` shows them. */
  catalogue(): readonly NfpTaskRow[];
  jobs(filter: NfpJobFilter): readonly NfpJobRow[];
  /** A record of a job, parsed: its call, its result, its events. */
  record(kind: 'call' | 'result' | 'events', uuid: string): Promise<unknown>;
  deleteFetched(pattern: string): Promise<DeletedFiles>;
}

const flag = (description: string, value: boolean) => ({ type: 'boolean', description, default: value }) as const;
const text = (description: string) => ({ type: 'string', description }) as const;
const whole = (description: string, more: { minimum?: number } = {}) =>
  ({ type: 'integer', description, ...more }) as const;

const LISTING = {
  pending: flag('Jobs without a result', true),
  completed: flag('Jobs with a result', true),
  task: text('Only of this task'),
  last: whole('Only the newest, this many', { minimum: 1 }),
  client: text('Only of this client'),
  uuid: text('Only this job, whatever else is set'),
} as const;

const DETAILS = {
  uuid: { type: 'string', description: 'The job', required: true },
  result: flag('Include its result', true),
  events: flag('Include its events', true),
} as const;

const LOGS = {
  last: { type: 'integer', description: 'Only the newest, this many; 0 for all that are kept', default: 100 },
  level: text('Only of this level, such as WARNING'),
  logger: text('Only of this logger'),
  since: text('Not before this time, in ISO 8601'),
  until: text('Not after this time, in ISO 8601'),
} as const;

const ECHO_SCHEMA = {
  type: 'object',
  properties: {
    sleep: { type: 'integer', description: 'Answer after this many seconds', minimum: 0 },
    raise_error: { type: ['boolean', 'string', 'integer'], description: 'Fail with this text' },
  },
  additionalProperties: true,
};

/** The base tasks of one worker. */
export function baseTasks(host: BaseTasksHost): Record<string, BaseTask> {
  const tasks: Record<string, BaseTask> = {
    list_tasks: query(
      'Tasks of this worker with their arguments',
      { name: text('Only this one'), brief: flag('Names only', false) },
      ({ name, brief }) => listTasks(host, name, brief),
    ),
    get_inventory: query('What the inventory of the broker says about this worker', {}, (_, { inventory }) =>
      inventory(),
    ),
    get_version: query('Versions of the software this worker runs on', {}, () => host.versions),
    get_watchdog_stats: query('State of this worker', {}, () => watchdogStats(host)),
    job_list: query('Jobs of this worker, the newest first', LISTING, (filter) => listJobs(host, filter)),
    job_details: query('One job: its call, its result, its events', DETAILS, (wish) => jobDetails(host, wish)),
    get_logs: query('Latest log lines of this worker', LOGS, (filter) => host.logs.list(filter)),
    delete_fetched_files: query(
      'Deletes copies of files fetched from the broker',
      { filepath: { type: 'string', description: 'Pattern of paths below the folder, such as *.txt', required: true } },
      ({ filepath }) => host.deleteFetched(filepath),
    ),
    echo: {
      description: 'Returns what it was called with',
      inputSchema: ECHO_SCHEMA,
      ...{ fastapi: { methods: ['POST'] }, mcp: {}, agent: {} },
      handler: (call, { signal }) => echo(call, signal, host.clock()),
    },
  };
  if (host.shellCommands)
    tasks['run_shell_cmd'] = {
      ...query(
        'Runs a shell command on the machine of this worker',
        {
          command: { type: 'string', description: 'The command', required: true },
          timeout: whole('Kill it after this many seconds', { minimum: 1 }),
        },
        ({ command, timeout }, { signal }) => runShell(command, timeout, signal, host.clock()),
      ),
      ...{ fastapi: { methods: ['POST'] }, mcp: false },
    };
  return tasks;
}

/** A task with a table of arguments that changes nothing. */
function query<Table extends Parameters>(
  description: string,
  table: Table,
  handler: (values: Values<Table>, context: NfpTaskContext) => unknown,
): BaseTask {
  return {
    description,
    inputSchema: schemaOf(table),
    ...{ fastapi: { methods: ['GET'] }, mcp: {}, agent: { enabled: false } },
    handler: (call, context) => handler(readArguments(table, call), context),
  };
}

function listTasks(host: BaseTasksHost, name: string | undefined, brief: boolean): unknown {
  const all = host.catalogue();
  if (brief) return all.map((task) => task.name).sort();
  if (name === undefined) return all;
  const found = all.filter((task) => task.name === name);
  if (found.length === 0) throw new ProjError('REJECTED', `${name} - task not registered`);
  return found;
}

function listJobs(host: BaseTasksHost, filter: NfpJobFilter): unknown {
  const { name: worker, service } = host;
  return host.jobs(filter).map(({ state, timeout: _, ...row }) => {
    const status =
      state === 'WAITING_CLIENT_INPUT' ? state : row.completed_timestamp === null ? 'PENDING' : 'COMPLETED';
    return { ...row, status, worker, service };
  });
}

async function jobDetails(
  host: BaseTasksHost,
  { uuid, result, events }: { readonly uuid: string; readonly result: boolean; readonly events: boolean },
): Promise<unknown> {
  const [row] = host.jobs({ uuid });
  if (row === undefined) throw new ProjError('REJECTED', `${host.name} - job with UUID '${uuid}' not found`);
  const { state: status, ...rest } = row;
  const isOver = row.completed_timestamp !== null;
  // The call of a finished job is not kept.
  const call = isOver ? undefined : ((await host.record('call', uuid)) as NfpKwargs | undefined);
  const told = result && isOver ? await host.record('result', uuid) : undefined;
  const { name: worker, service } = host;
  const about = { client_address: row.client_address, uuid, status_code: '200', worker, service };
  return {
    ...rest,
    status,
    args: call === undefined ? null : (call['args'] ?? []),
    kwargs: call === undefined ? null : (call['kwargs'] ?? {}),
    result_data: told === undefined ? null : { ...about, result: told },
    job_events: events ? await eventsOf(host, uuid) : [],
  };
}

async function eventsOf(host: BaseTasksHost, uuid: string): Promise<unknown[]> {
  const events = ((await host.record('events', uuid)) ?? []) as Readonly<Record<string, unknown>>[];
  return events.map((event) => ({ ...event, created_at: event['timestamp'] }));
}

function watchdogStats(host: BaseTasksHost): unknown {
  const seconds = Math.floor(host.uptimeMs() / 1000);
  return {
    watchdog_runs: 0,
    timestamp: cTime(host.wallMs()),
    uptime: durationOf(seconds),
    uptime_seconds: seconds,
    worker_ram_usage_mbyte: process.memoryUsage.rss() / 1_024_000,
    sid_inventory_status: host.inventoryState(),
  };
}

async function echo(call: NfpTaskCall, signal: AbortSignal, clock: Clock): Promise<unknown> {
  const { uuid: juuid, client: client_address, timeoutMs, task, args } = call;
  const { sleep, raise_error: error, ...kwargs } = call.kwargs;
  if (typeof sleep === 'number' && sleep > 0) await pause(sleep * 1000, signal, clock);
  if (error !== undefined && error !== null && error !== false && error !== 0 && error !== '')
    throw new ProjError('REJECTED', typeof error === 'string' ? error : JSON.stringify(error));
  return { juuid, client_address, timeout: timeoutMs / 1000, task, args, kwargs };
}

function pause(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.cancel();
      reject(signal.reason as Error);
    };
    const timer = clock.at(clock.now() + ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['sec', 1],
] as const;

/** `1d 1h 1min 1sec` */
function durationOf(seconds: number): string {
  let rest = seconds;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join(' ') || '0sec';
}
