/** NORFAB in proj-worker: tasks instead of handlers, and jobs that outlive the process. */
import { existsSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fromSchema, milliseconds, onOff, text, WatchedRecords, wholeNumber, wordFromSchema } from '@proj/appkit';
import type { Logger } from '@proj/appkit';
import { lmdbRecords } from '@proj/store';
import type { Transport } from '@proj/transport';
import { fileSharingTasks, NfpWorker, ProjError } from '@proj/worker';
import type { NfpTask, NfpTaskHandler } from '@proj/worker';
import { nfpWorkerOptions } from '@proj/worker/nfp';
import * as z from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { usualIn } from '../protocol.js';
import type { Protocol, SettingsOf } from '../protocol.js';
import { sha256 } from '../handlers/digest.js';
import { sleep } from '../handlers/sleep.js';
import { measureText } from '../handlers/text-stats.js';

type Tasks = Readonly<Record<string, NfpTask | NfpTaskHandler>>;

const builtIn: Tasks = {
  sha256: ({ args }) => sha256(Buffer.from(textOf(args))),
  'text-stats': ({ args }) => measureText(Buffer.from(textOf(args))),
  sleep: ({ args }, { signal }) => sleep(String(args[0]), signal),
  fail: () => {
    throw new Error('task fail: it always does');
  },
};

/** Refusal for a loaded module without anything to call. */
const ALLOWED = `one of echo, ${Object.keys(builtIn).join(', ')}, or a file that exports functions or tasks`;

/** The bounds and defaults of the worker. */
const { shape } = nfpWorkerOptions;

const options = z.strictObject({
  files: text('DIR', 'a folder')
    .optional()
    .describe(
      'nfp: share the files of this folder, and nothing outside it, instead of offering other tasks (default: none)',
    ),
  baseTasks: fromSchema(shape.baseTasks, onOff).describe(
    "nfp: offer NORFAB's base tasks: list_tasks, get_inventory, job_list, get_logs, echo, ...",
  ),
  shellCommands: fromSchema(shape.shellCommands, onOff).describe(
    'nfp: also offer the task run_shell_cmd. DANGEROUS: anyone who may submit jobs can run commands as this process',
  ),
  fetchFiles: text('DIR', 'a folder')
    .optional()
    .describe(
      'nfp: folder for files that tasks fetch from the broker by nf:// URLs (default: none, and tasks cannot fetch files)',
    ),
  fetchMaxBytes: fromSchema(shape.fetchMaxBytes, wholeNumber).describe(
    'nfp: bytes of files in the folder of --fetch-files; the least recently used are removed',
  ),
  name: text('NAME', '1 to 255 bytes')
    .optional()
    .describe('nfp: how clients address this worker, the same after a restart (default: SERVICE@HOST)'),
  store: text('STORE', 'lmdb:FOLDER or memory:')
    .optional()
    .describe(
      'nfp: store for jobs and results: lmdb:FOLDER or memory: (default: the folder NAME.jobs in the current directory)',
    ),
  crashPolicy: wordFromSchema(shape.crashPolicy).describe(
    'nfp: what to do with jobs that were running when the worker ended',
  ),
  resultTtlMs: fromSchema(shape.resultTtlMs, milliseconds).describe('nfp: how long to keep results, 0 for ever'),
  managementCommands: fromSchema(shape.managementCommands, onOff).describe(
    'nfp: obey restart, shutdown and disconnect at mmi.service.worker, from anyone',
  ),
});

/** The NFP part of proj-worker: one worker for the single service of the settings; the broker's operator may also end it. */
export const nfp: Protocol<typeof options> = {
  title: 'NORFAB',
  usual: usualIn(shape.endpoints.def.defaultValue, { ...shape, heartbeatIntervalMs: shape.keepaliveIntervalMs }),
  options,
  examples: [
    { what: 'NORFAB: tasks whose jobs outlive this process', line: '--protocol nfp --service sample --name sample-1' },
  ],
  *refusals({ service }, isChosen) {
    if (isChosen && service.length !== 1)
      yield ['service', 'must be a single name with --protocol nfp, where a worker has one service and one store'];
  },
  async offers(settings, { transport, log }) {
    const { worker, store } = await construct(settings, transport, log);
    const ended = new AbortController();
    worker.on('management', ({ task }) => {
      if (task === 'shutdown') ended.abort();
    });
    return [{ worker, log, store, ended: ended.signal }];
  },
};

async function construct(settings: SettingsOf<typeof options>, transport: Transport, log: Logger) {
  const [service = ''] = settings.service;
  const name = settings.name ?? `${service}@${hostname()}`;
  const { concurrency, heartbeatMs, drainMs } = settings;
  const tasks =
    settings.files === undefined ? await findTasks(settings.handler) : share(settings.files, settings.handler, log);
  const store = storeOf(settings.store ?? `lmdb:${encodeURIComponent(name)}.jobs`);
  const worker = new NfpWorker({
    endpoints: settings.connect ?? [...nfp.usual.endpoints],
    service,
    name,
    tasks,
    ...(store === undefined ? {} : { store }),
    ...(settings.fetchFiles === undefined ? {} : { fetchFiles: settings.fetchFiles }),
    fetchMaxBytes: settings.fetchMaxBytes,
    baseTasks: settings.baseTasks,
    shellCommands: settings.shellCommands,
    versions: { 'proj-worker': manifest.version },
    crashPolicy: settings.crashPolicy,
    resultTtlMs: settings.resultTtlMs,
    managementCommands: settings.managementCommands,
    keepaliveMultiplier: Math.min(settings.liveness, 20),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(heartbeatMs === undefined ? {} : { keepaliveIntervalMs: heartbeatMs }),
    ...(drainMs === undefined ? {} : { drainMs }),
    transport,
  });
  worker.on('note', ({ code, ...fields }) => {
    log[levelOf(code)](fields, code);
  });
  worker.on('error', ({ error, ...fields }) => {
    log.error({ err: error, ...fields }, 'task failed');
  });
  return { worker, store };
}

function textOf(args: readonly unknown[]): string {
  const [text] = args;
  if (typeof text !== 'string') throw new ProjError('REJECTED', 'args.0: expected a text');
  return text;
}

/** Without a store, the worker itself reports that jobs are lost with the process. */
function storeOf(store: string): WatchedRecords | undefined {
  if (store === 'memory:') return undefined;
  if (store.startsWith('lmdb:') && store.length > 5) return new WatchedRecords(lmdbRecords({ folder: store.slice(5) }));
  throw new ProjError('OPTIONS_INVALID', `--store = "${store}": must be lmdb:FOLDER or memory:`);
}

/** The tasks of a NORFAB file sharing worker. */
function share(folder: string, handler: string | undefined, log: Logger): Readonly<Record<string, NfpTask>> {
  if (handler !== undefined)
    throw new ProjError(
      'OPTIONS_INVALID',
      `--handler = "${handler}": must be left out with --files, which has tasks of its own`,
    );
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ProjError('OPTIONS_INVALID', `--files = "${folder}": must be a folder`);
  return fileSharingTasks(folder, {
    onEscape: ({ url, client, uuid }) => {
      log.warn({ url, peer: Buffer.from(client).toString('hex'), uuid }, 'outside-of-folder');
    },
  });
}

async function findTasks(handler: string | undefined): Promise<Tasks> {
  if (handler === undefined) return builtIn;
  // All workers have this task.
  if (handler === 'echo') return {};
  const task = builtIn[handler];
  if (task !== undefined) return { [handler]: task };
  const path = resolve(handler);
  if (!existsSync(path)) throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": must be ${ALLOWED}`);
  return tasksIn(handler, await load(handler, path));
}

async function load(handler: string, path: string): Promise<object> {
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": must be a module that loads (${reason})`, {
      cause,
    });
  }
}

function tasksIn(handler: string, exports: object): Tasks {
  const tasks = Object.entries(exports).filter(([name, value]) => name !== 'default' && isTask(value));
  if (tasks.length === 0) throw new ProjError('OPTIONS_INVALID', `--handler = "${handler}": must be ${ALLOWED}`);
  return Object.fromEntries(tasks);
}

/** A handler, or an object with a handler, as made by `defineNfpTask`. */
function isTask(value: unknown): boolean {
  return typeof value === 'function' || (typeof value === 'object' && value !== null && 'handler' in value);
}

const INFO = new Set(['ready', 'left', 'management', 'inventory-failed']);

function levelOf(code: string): 'debug' | 'info' | 'warn' {
  if (code === 'lost' || code === 'store-failed' || code === 'volatile-store') return 'warn';
  return INFO.has(code) ? 'info' : 'debug';
}
