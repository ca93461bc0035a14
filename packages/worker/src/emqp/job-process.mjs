// Runs in a process, or thread, of an EventMQ job manager: finds what a job names, runs it, reports the outcome. Job manager
// rules 5, 6 and 9 of docs/protocols/emqp.md. Plain JavaScript without imports of ours, so that it needs no build step and
// holds no socket: the same file stands beside the sources and in the published package.
//
//     in    { start: { handlers, directory, resultMaxBytes } }  once, paths or undefined
//           { run: { number, id, queue, run, body }, wantsResult }
//           { stop: true }
//     out   { ready: true } or { broken: text }
//           { number, outcome: 'done' | 'failed' | 'refused', json }    json: of { value }, or ''
//           each in an envelope, { '@proj/worker': message }, which tells it from messages of the jobs themselves
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TextDecoder } from 'node:util';
import { isMainThread, parentPort } from 'node:worker_threads';

const ENDINGS = ['.mjs', '.js', '.cjs'];
const REASON_MAX = 1000;
const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The message becomes the job's result, and the job is not retried. */
class Refusal extends Error {}

/** Registered functions by `path.callable`. */
let registered = new Map();
/** The folder whose modules may be run, with links resolved. */
let folder;
let hooks = {};
let resultMax = Infinity;
/** Modules by `path`, so that the folder is not read again for each job. */
const modules = new Map();

// Bound now, so that results are sent whatever jobs do to `process`.
const send = isMainThread ? process.send.bind(process) : parentPort.postMessage.bind(parentPort);
const post = (message) => {
  send({ '@proj/worker': message });
};

async function start({ handlers, directory, resultMaxBytes }) {
  resultMax = resultMaxBytes;
  if (directory !== undefined) folder = await folderAt(directory);
  if (handlers !== undefined) {
    const { default: table = {}, ...named } = await import(pathToFileURL(handlers).href);
    const entries = Object.entries(table);
    const odd = entries.find(([, handler]) => typeof handler !== 'function');
    if (odd !== undefined) throw new TypeError(`handler "${odd[0]}" is not a function`);
    registered = new Map(entries);
    hooks = named;
  }
  await hooks.onProcessStart?.();
}

async function folderAt(path) {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined && (await stat(real)).isDirectory()) return real;
  throw new Error(`directory "${path}": no such folder`);
}

async function run({ body, ...job }, wantsResult) {
  const { number } = job;
  try {
    const value = await perform(body, job);
    post({ number, outcome: 'done', json: wantsResult ? toJson(value) : '' });
  } catch (error) {
    const text = textOf(error);
    // Also for the job manager's log, if the client does not want it.
    const json = toJson(wantsResult ? text : text.slice(0, REASON_MAX));
    post({ number, outcome: error instanceof Refusal ? 'refused' : 'failed', json });
  }
}

async function perform(body, job) {
  const call = await find(parse(body));
  await hooks.onJobEntry?.(job);
  try {
    const value = await call();
    await leave({ ...job, failed: false });
    return value;
  } catch (error) {
    await leave({ ...job, failed: true });
    throw error;
  }
}

/** The job has ended; an error in the hook does not change that. */
async function leave(job) {
  try {
    await hooks.onJobExit?.(job);
  } catch (error) {
    console.error('onJobExit threw', error);
  }
}

function parse(body) {
  let message;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new Refusal('the body is not JSON in UTF-8');
  }
  const [word, job] = Array.isArray(message) ? message : [];
  if (typeof word !== 'string' || message.length !== 2 || !isObject(job))
    throw new Refusal('the body is not [word, object]');
  const { path, callable, args = [], kwargs = {}, class_args: classArgs = [], class_kwargs: classKwargs = {} } = job;
  if (typeof path !== 'string' || typeof callable !== 'string') throw new Refusal('the job lacks path or callable');
  if (!Array.isArray(args) || !Array.isArray(classArgs)) throw new Refusal('args and class_args must be lists');
  if (!isObject(kwargs) || !isObject(classKwargs)) throw new Refusal('kwargs and class_kwargs must be objects');
  return { path, callable, args: spread(args, kwargs), classArgs: spread(classArgs, classKwargs) };
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const spread = (args, kwargs) => (Object.keys(kwargs).length === 0 ? args : [...args, kwargs]);

/** The function that the job names, ready to be called. */
async function find({ path, callable, args, classArgs }) {
  const handler = registered.get(`${path}.${callable}`);
  if (handler !== undefined) return () => handler(...args);
  const unknown = new Refusal(`no job ${JSON.stringify(`${path}.${callable}`)} here`);
  const [moduleName, className, ...rest] = path.split(':');
  if (folder === undefined || rest.length > 0 || !WORD.test(callable)) throw unknown;
  const exports = await load(moduleName, unknown);
  if (className === undefined) {
    const target = exportOf(exports, callable);
    if (typeof target !== 'function') throw unknown;
    return () => target(...args);
  }
  const Target = exportOf(exports, className);
  const method = typeof Target === 'function' ? ownMethod(Target.prototype, callable) : undefined;
  if (method === undefined) throw unknown;
  return () => method.apply(new Target(...classArgs), args);
}

async function load(name, unknown) {
  const words = name.split('.');
  if (!words.every((word) => WORD.test(word))) throw unknown;
  const known = modules.get(name);
  if (known !== undefined) return known;
  for (const ending of ENDINGS) {
    const file = await realpath(join(folder, ...words) + ending).catch(() => undefined);
    if (file === undefined) continue;
    // A link may point outside the folder.
    if (!file.startsWith(folder + sep) || !(await stat(file)).isFile()) throw unknown;
    const exports = await import(pathToFileURL(file).href);
    modules.set(name, exports);
    return exports;
  }
  throw unknown;
}

/** What the module itself exports under that name. CommonJS modules may have it only in their default export. */
function exportOf(exports, name) {
  if (Object.hasOwn(exports, name)) return exports[name];
  return isObject(exports.default) && Object.hasOwn(exports.default, name) ? exports.default[name] : undefined;
}

/** A method that the class itself declares. */
function ownMethod(prototype, name) {
  const own = name === 'constructor' ? undefined : Object.getOwnPropertyDescriptor(prototype ?? {}, name)?.value;
  return typeof own === 'function' ? own : undefined;
}

/** The result of a job that returns nothing is `true`. */
function toJson(value) {
  try {
    const json = JSON.stringify({ value: value === undefined ? true : value });
    if (json === '{}') return JSON.stringify({ value: `a result of type ${typeof value} cannot be expressed in JSON` });
    // A character takes at least one byte.
    if (json.length <= resultMax) return json;
    return JSON.stringify({ value: `result of ${json.length} bytes or more: the limit is ${resultMax}` });
  } catch (error) {
    return JSON.stringify({ value: textOf(error) });
  }
}

function textOf(error) {
  try {
    return String(error instanceof Error ? error.message || error.name : error);
  } catch {
    return 'an error that cannot be converted to text';
  }
}

function onMessage(message) {
  if (message.run !== undefined) void run(message.run, message.wantsResult);
  else if (message.stop === true) process.exit(0);
  else
    start(message.start).then(
      () => post({ ready: true }),
      (error) => post({ broken: textOf(error) }),
    );
}

if (isMainThread) {
  // The job manager handles signals to the whole group and lets jobs finish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  // The job manager is gone: kills the whole group, including this process and everything its job has started.
  process.on('disconnect', () => process.kill(0, 'SIGKILL'));
  process.on('message', onMessage);
} else parentPort.on('message', onMessage);
