/** Arguments of base tasks: one table says what there is, what it must be, and what a catalogue of tasks shows. */
import { ProjError } from '@proj/transport';
import type { NfpTaskCall } from '../task.js';

/** One argument. Absent and `null` mean the default. */
export interface Parameter {
  readonly type: 'boolean' | 'string' | 'integer';
  readonly description: string;
  readonly default?: boolean | string | number;
  readonly required?: boolean;
  /** Of an integer; default 0. */
  readonly minimum?: number;
}

/** Arguments by name, in the order in which they may be given by position. */
export type Parameters = Readonly<Record<string, Parameter>>;

/** What they are in a call; `undefined` where nothing is given and there is no default. */
export type Values<Table extends Parameters> = {
  readonly [Name in keyof Table]:
    | { readonly boolean: boolean; readonly string: string; readonly integer: number }[Table[Name]['type']]
    | (Table[Name] extends { readonly default: unknown } | { readonly required: true } ? never : undefined);
};

/** Reads the arguments of a call. Throws `REJECTED` for one that is missing, unknown, or of another type. */
export function readArguments<Table extends Parameters>(table: Table, { args, kwargs }: NfpTaskCall): Values<Table> {
  const names = Object.keys(table);
  if (args.length > names.length) throw refused(`${args.length} positional arguments: allowed are ${names.length}`);
  const given: Record<string, unknown> = {};
  for (const [index, value] of args.entries()) given[names[index] as string] = value;
  for (const [name, value] of Object.entries(kwargs)) {
    if (!Object.hasOwn(table, name)) throw refused(`${name}: no such argument; there are ${names.join(', ')}`);
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
