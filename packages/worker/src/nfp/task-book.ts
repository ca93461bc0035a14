/** The tasks of an NFP worker, and how they are called. */
import { isFileUrl } from '@proj/files';
import type { StandardSchema } from '@proj/frames/service';
import { ProjError } from '@proj/transport';
import type { NfpTask, NfpTaskCall, NfpTaskContext, NfpTaskHandler } from './task.js';

/** Limits of the schema issues and of the error characters that a client gets. */
const ISSUES_MAX = 16;
const ERROR_MAX = 10_000;

/** Tasks by name. */
export class TaskBook {
  readonly #tasks: ReadonlyMap<string, NfpTask>;

  constructor(tasks: Readonly<Record<string, NfpTask | NfpTaskHandler>>) {
    const all = Object.entries(tasks);
    this.#tasks = new Map(all.map(([name, task]) => [name, typeof task === 'function' ? { handler: task } : task]));
  }

  entries(): IterableIterator<[string, NfpTask]> {
    return this.#tasks.entries();
  }

  /** For listings. */
  get list(): { readonly name: string; readonly description: string }[] {
    return [...this.#tasks].map(([name, { description = '' }]) => ({ name, description }));
  }

  /** Runs a task and returns its result as JSON text. Rejects as the task does, and with `REJECTED` for an unknown task or invalid arguments. */
  async run(call: NfpTaskCall, context: NfpTaskContext): Promise<string> {
    const task = this.#tasks.get(call.task);
    if (task === undefined) throw new ProjError('REJECTED', `unknown task ${JSON.stringify(call.task.slice(0, 255))}`);
    const args = (await checked('args', task.args, call.args)) as NfpTaskCall['args'];
    const kwargs = (await checked('kwargs', task.kwargs, call.kwargs)) as NfpTaskCall['kwargs'];
    const given =
      task.fetch === undefined ? { args, kwargs } : await withFiles(task.fetch, args, kwargs, context.fetch);
    return toJson(await task.handler({ ...call, ...given }, context));
  }
}

/** The result that a failed task returned nevertheless, as JSON text. */
export function failedResult(error: unknown): string | undefined {
  // By name: the class may come from another copy of this package, such as its CommonJS build.
  if (!(error instanceof Error && error.name === 'NfpTaskFailure' && 'result' in error)) return undefined;
  try {
    return toJson(error.result);
  } catch {
    return undefined;
  }
}

/** What a client learns of an error. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, ERROR_MAX);
}

async function checked(what: string, schema: StandardSchema | undefined, value: unknown): Promise<unknown> {
  if (schema === undefined) return value;
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, ISSUES_MAX).map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${[what, ...keys].join('.')}: ${message}`;
  });
  throw new ProjError('REJECTED', issues.join('; '), { details: result.issues });
}

/** A copy of the arguments, with paths instead of urls. */
async function withFiles(
  names: readonly (string | number)[],
  args: NfpTaskCall['args'],
  kwargs: NfpTaskCall['kwargs'],
  fetch: NfpTaskContext['fetch'],
): Promise<Pick<NfpTaskCall, 'args' | 'kwargs'>> {
  const [positional, named] = [[...args], { ...kwargs }];
  for (const name of names) {
    const from: Record<string | number, unknown> =
      typeof name === 'number' ? (Object(positional) as typeof named) : named;
    if (Object.hasOwn(from, name)) from[name] = await localised(from[name], fetch);
  }
  return { args: positional, kwargs: named };
}

async function localised(value: unknown, fetch: NfpTaskContext['fetch']): Promise<unknown> {
  if (typeof value === 'string') return isFileUrl(value) ? fetch(value) : value;
  if (!Array.isArray(value)) return value;
  const paths: unknown[] = [];
  for (const each of value as unknown[])
    paths.push(typeof each === 'string' && isFileUrl(each) ? await fetch(each) : each);
  return paths;
}

function toJson(value: unknown): string {
  if (value === undefined) return 'null';
  // Its type does not say so, but JSON.stringify returns undefined for values it cannot express.
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new ProjError('PROTOCOL_LOCAL', `result: JSON cannot express ${typeof value}`);
  return text;
}
