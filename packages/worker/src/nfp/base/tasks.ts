/** Tasks that every NFP worker has, by the names and in the shapes of NORFAB, whose tools find out by them what a worker can and does. Worker rule 18 of docs/protocols/nfp.md. */
import type { DeletedFiles } from '@proj/files';
import { cTime } from '@proj/frames/nfp';
import type { NfpLogBook } from '@proj/frames/nfp';
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { InventoryState } from '../broker-services.js';
import type { NfpJobFilter, NfpJobRow } from '../engine/job-rows.js';
import type { NfpKwargs, NfpTask, NfpTaskCall, NfpTaskContext } from '../task.js';
import { readArguments, schemaOf } from './parameters.js';
import type { Parameters, Values } from './parameters.js';
import { runShell } from './shell.js';

/** What base tasks need of their worker. */
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
  /** What `list_tasks` shows of all tasks. */
  catalogue(): readonly NfpTaskRow[];
  jobs(filter: NfpJobFilter): readonly NfpJobRow[];
  /** JSON of a record of a job: its call, its result, its events. */
  record(kind: 'call' | 'result' | 'events', uuid: string): Promise<unknown>;
  deleteFetched(pattern: string): Promise<DeletedFiles>;
}

/** A task in the catalogue of a worker. */
export interface NfpTaskRow {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the named arguments. */
  readonly inputSchema: object;
  /** JSON Schema of what a client is told in the end. */
  readonly outputSchema: object;
  readonly fastapi: object | false;
  readonly mcp: object | false;
  readonly agent: object | false;
  /** JSON Schema of the positional arguments, where there is one. */
  readonly args?: object;
}

/** A base task, and what a catalogue shows of it. */
export type BaseTask = NfpTask & Pick<NfpTaskRow, 'inputSchema' | 'fastapi' | 'mcp' | 'agent'>;

const flag = (description: string, value: boolean) => ({ type: 'boolean', description, default: value }) as const;
const text = (description: string) => ({ type: 'string', description }) as const;
const whole = (description: string, more: { minimum?: number } = {}) =>
  ({ type: 'integer', description, ...more }) as const;

const LISTING = {
  pending: flag('Jobs without a result', true),
  completed: flag('Jobs with a result', true),
  task: text('Of this task only'),
  last: whole('The newest so many', { minimum: 1 }),
  client: text('Of this client only'),
  uuid: text('This job only, whatever else is asked for'),
} as const;

const DETAILS = {
  uuid: { type: 'string', description: 'The job', required: true },
  result: flag('With its result', true),
  events: flag('With what it has told', true),
} as const;

const LOGS = {
  last: { type: 'integer', description: 'The newest so many, 0 for all that are kept', default: 100 },
  level: text('Of this level only, such as WARNING'),
  logger: text('Of this logger only'),
  since: text('Not before this time, in ISO 8601'),
  until: text('Not after this time, in ISO 8601'),
} as const;

const ECHO_SCHEMA = {
  type: 'object',
  properties: {
    sleep: { type: 'integer', description: 'Answer after so many seconds', minimum: 0 },
    raise_error: { type: ['boolean', 'string', 'integer'], description: 'Fail with this text' },
  },
  additionalProperties: true,
};

/** All of them, for one worker. */
export function baseTasks(host: BaseTasksHost): Record<string, BaseTask> {
  const tasks: Record<string, BaseTask> = {
    list_tasks: query(
      'Tasks of this worker with their arguments',
      { name: text('This one only'), brief: flag('Names only', false) },
      ({ name, brief }) => listTasks(host, name, brief),
    ),
    get_inventory: query('What the inventory of the broker says of this worker', {}, (_, { inventory }) => inventory()),
    get_version: query('Versions of what this worker is made of', {}, () => host.versions),
    get_watchdog_stats: query('How this worker is', {}, () => watchdogStats(host)),
    job_list: query('Jobs of this worker, the newest first', LISTING, (filter) => listJobs(host, filter)),
    job_details: query('One job: its call, its result, what it has told', DETAILS, (wish) => jobDetails(host, wish)),
    get_logs: query('What this worker has lately had to say', LOGS, (filter) => host.logs.list(filter)),
    delete_fetched_files: query(
      'Deletes copies of files of the broker',
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
        'Runs a command of the shell on the machine of this worker',
        {
          command: { type: 'string', description: 'The command', required: true },
          timeout: whole('Kill it after so many seconds', { minimum: 1 }),
        },
        ({ command, timeout }, { signal }) => runShell(command, timeout, signal, host.clock()),
      ),
      ...{ fastapi: { methods: ['POST'] }, mcp: false },
    };
  return tasks;
}

/** A task with a table of arguments, which only asks. */
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
  // Of a job that has ended the call is not kept.
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
