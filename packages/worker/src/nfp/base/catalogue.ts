/** Arguments of base tasks, and what `list_tasks` shows of every task: its name, description and arguments as JSON Schema, in NORFAB's shape. */
import type { StandardSchema } from '@proj/frames/service';
import { ProjError } from '@proj/transport';
import type { NfpTask, NfpTaskCall } from '../task.js';

/** A task in the list. */
export interface NfpTaskRow {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the named arguments. */
  readonly inputSchema: object;
  /** JSON Schema of the result. */
  readonly outputSchema: object;
  readonly fastapi: object | false;
  readonly mcp: object | false;
  readonly agent: object | false;
  /** JSON Schema of the positional arguments, if known. */
  readonly args?: object;
}

/** A base task, with what the list shows of it. */
export type BaseTask = NfpTask & Pick<NfpTaskRow, 'inputSchema' | 'fastapi' | 'mcp' | 'agent'>;

/** The version of JSON Schema to request. */
const TARGET = 'draft-2020-12';

/** For schema libraries without JSON Schema. */
const ANYTHING = { type: 'object', properties: {}, additionalProperties: true };

const text = (description: string) => ({ type: 'string', description });
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

/** The result of a job. */
const RESULT = {
  type: 'object',
  properties: {
    result: { description: 'What the task has returned' },
    failed: { type: 'boolean', description: 'Whether it has failed' },
    errors: texts('Why it has failed'),
    task: text('Worker and task'),
    messages: texts('Messages to the client'),
    juuid: text('The job'),
    resources: texts('What it was about'),
    status: text('completed, failed or cancelled'),
    task_started: { type: ['string', 'null'], description: 'When it began' },
    task_completed: text('When it ended'),
    service: text('The service of the worker'),
    diff: { description: 'Nothing' },
    dry_run: { type: 'boolean', description: 'Always false' },
  },
};

/** The row of a task. */
export function taskRow(name: string, task: NfpTask | BaseTask): NfpTaskRow {
  const { description = '' } = task;
  if ('inputSchema' in task) {
    const { inputSchema, fastapi, mcp, agent } = task;
    return { name, description, inputSchema, outputSchema: RESULT, fastapi, mcp, agent };
  }
  const kwargs = jsonSchemaOf(task.kwargs);
  const inputSchema = kwargs === undefined ? ANYTHING : { type: 'object', properties: {}, ...kwargs };
  const args = jsonSchemaOf(task.args);
  const row = { name, description, inputSchema, outputSchema: RESULT };
  return { ...row, fastapi: {}, mcp: {}, agent: {}, ...(args === undefined ? {} : { args }) };
}

/** Its Standard JSON Schema, which zod has since 4.2; `undefined` if there is none, or JSON Schema cannot express it. */
function jsonSchemaOf(schema: StandardSchema | undefined): object | undefined {
  const standard = schema?.['~standard'] as JsonSchemaSource | undefined;
  try {
    const { $schema: _, ...json } = standard?.jsonSchema?.input({ target: TARGET }) ?? {};
    return Object.keys(json).length === 0 ? undefined : json;
  } catch {
    return undefined;
  }
}

interface JsonSchemaSource {
  readonly jsonSchema?: { input(options: { readonly target: string }): Record<string, unknown> };
}

/** One argument of a base task. Absent and `null` mean the default. */
export interface Parameter {
  readonly type: 'boolean' | 'string' | 'integer';
  readonly description: string;
  readonly default?: boolean | string | number;
  readonly required?: boolean;
  /** For an integer; default 0. */
  readonly minimum?: number;
}

/** Arguments by name, in the order in which they may be given by position. */
export type Parameters = Readonly<Record<string, Parameter>>;

/** Their values in a call; `undefined` without a value or default. */
export type Values<Table extends Parameters> = {
  readonly [Name in keyof Table]:
    | { readonly boolean: boolean; readonly string: string; readonly integer: number }[Table[Name]['type']]
    | (Table[Name] extends { readonly default: unknown } | { readonly required: true } ? never : undefined);
};

/** Reads the arguments of a call. Throws `REJECTED` for a missing or unknown one, or one of another type. */
export function readArguments<Table extends Parameters>(table: Table, { args, kwargs }: NfpTaskCall): Values<Table> {
  const names = Object.keys(table);
  if (args.length > names.length) throw refused(`${args.length} positional arguments: the limit is ${names.length}`);
  const given: Record<string, unknown> = {};
  for (const [index, value] of args.entries()) given[names[index] as string] = value;
  for (const [name, value] of Object.entries(kwargs)) {
    if (!Object.hasOwn(table, name)) throw refused(`${name}: no such argument; choose from ${names.join(', ')}`);
    given[name] = value;
  }
  const values = names.map((name) => [name, read(name, table[name] as Parameter, given[name])]);
  return Object.fromEntries(values) as Values<Table>;
}

/** The table as JSON Schema. */
export function schemaOf(table: Parameters): object {
  const properties = Object.entries(table).map(([name, { required: _, ...schema }]) => [name, schema]);
  const required = Object.keys(table).filter((name) => table[name]?.required === true);
  const rest = required.length > 0 ? { required } : {};
  return { type: 'object', properties: Object.fromEntries(properties) as object, ...rest, additionalProperties: false };
}

function read(name: string, { type, default: instead, required, minimum = 0 }: Parameter, value: unknown): unknown {
  if (value === undefined || value === null) {
    if (required === true) throw refused(`${name}: is missing`);
    return instead;
  }
  const fits = type === 'integer' ? Number.isSafeInteger(value) && (value as number) >= minimum : typeof value === type;
  if (!fits)
    throw refused(
      `${name} = ${JSON.stringify(value)}: must be ${type === 'integer' ? `a whole number from ${minimum}` : `a ${type}`}`,
    );
  return value;
}

function refused(text: string): ProjError {
  return new ProjError('REJECTED', text);
}
