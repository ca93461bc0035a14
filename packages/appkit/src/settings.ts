/** Options from flags, environment and file, in that order of precedence, checked as one. */
import { ProjError } from '@proj/transport';
import type * as z from 'zod';
import { fieldsOf, type Field } from './fields.js';

/** Values of a configuration file, by the name of the flag. */
export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Where a program's options come from. */
export interface Sources {
  /** As the command line gave them, by key of the schema; absent when it did not. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prefix of the program's environment variables, such as `PROJ_BROKER_`. */
  readonly envPrefix: string;
  readonly file?: ConfigFile | undefined;
}

interface Origin {
  readonly value: unknown;
  /** How a refusal names the place, such as `--liveness`. */
  readonly name: string;
}

/** Name of the environment variable of a field. */
export function variableOf(field: Pick<Field, 'flag'>, envPrefix: string): string {
  return envPrefix + field.flag.toUpperCase().replaceAll('-', '_');
}

/**
 * The options of a program with defaults filled in. Throws `OPTIONS_INVALID` whose message is one line that names each
 * refused option where it was set, its value and what is allowed.
 */
export function resolveSettings<Schema extends z.ZodObject>(schema: Schema, sources: Sources): z.output<Schema> {
  const fields = new Map(fieldsOf(schema).map((field) => [field.key, field]));
  const origins = new Map<string, Origin>();
  for (const field of fields.values()) {
    const origin = originOf(field, sources);
    if (origin !== undefined) origins.set(field.key, origin);
  }
  const given = Object.fromEntries([...origins].map(([key, origin]) => [key, origin.value]));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const refused = new Map<PropertyKey, string>();
  for (const { path, code, message } of result.error.issues) {
    const key = String(path[0] ?? '');
    const origin = origins.get(key);
    const field = fields.get(key);
    // A check over several fields words its own message; every other refusal is worded by the field.
    const must = field === undefined || code === 'custom' ? message : `must be ${field.allowed}`;
    const where = origin === undefined ? `--${field?.flag ?? ''} missing` : `${origin.name} = ${show(origin.value)}`;
    if (!refused.has(key)) refused.set(key, `${where}: ${must}`);
  }
  throw new ProjError('OPTIONS_INVALID', [...refused.values()].join('; '), { details: result.error.issues });
}

function originOf(field: Field, { flags, env, envPrefix, file }: Sources): Origin | undefined {
  const flag = flags[field.key];
  if (flag !== undefined) return { value: read(field, flag), name: `--${field.flag}` };
  const variable = variableOf(field, envPrefix);
  // Set but empty is how compose files and unit files spell "not set".
  if (env[variable] !== undefined && env[variable] !== '') return { value: read(field, env[variable]), name: variable };
  const value = file?.values[field.flag];
  if (value === undefined || value === null) return undefined;
  return { value: field.kind === 'list' ? split(value) : value, name: `${field.flag} in ${file?.path ?? ''}` };
}

/** Text as the field's kind reads it; text that does not read stays text and is refused with the words of the user. */
function read(field: Field, value: unknown): unknown {
  if (field.kind === 'list') return split(value);
  if (typeof value !== 'string') return value;
  if (field.kind === 'number') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (field.kind === 'switch') return { true: true, '1': true, false: false, '0': false }[value] ?? value;
  return value;
}

/** `a,b` and `[a, b]` and `--x a --x b` are the same list. */
function split(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((member) => split(member));
  return typeof value === 'string' ? value.split(',').map((member) => member.trim()) : [value];
}

function show(value: unknown): string {
  return JSON.stringify(Array.isArray(value) && value.length === 1 ? value[0] : value);
}

/** Environment variables that carry the program's prefix and set nothing: most likely misspelt. */
export function strayVariables(sources: Pick<Sources, 'env' | 'envPrefix'>, known: ReadonlySet<string>): string[] {
  // Kubernetes injects PREFIX_PORT... and PREFIX_SERVICE_... for a service of the program's name.
  const injected = new RegExp(`^${sources.envPrefix}(PORT|SERVICE_)`);
  return Object.keys(sources.env).filter(
    (name) => name.startsWith(sources.envPrefix) && !known.has(name) && !injected.test(name),
  );
}
