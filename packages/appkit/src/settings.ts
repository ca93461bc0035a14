/** Options from flags, environment and file, in that order of precedence, validated together. */
import { ProjError } from '@proj/transport';
import type * as z from 'zod';
import { fieldsOf, type Field } from './fields.js';

/** Values of a configuration file, by flag name. */
export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The sources of a program's options. */
export interface Sources {
  /** Values from the command line, by schema key; absent keys were not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prefix of the program's environment variables, such as `PROJ_BROKER_`. */
  readonly envPrefix: string;
  readonly file?: ConfigFile | undefined;
}

interface Origin {
  readonly value: unknown;
  /** How an error message names the place, such as `--liveness`. */
  readonly name: string;
}

/** Name of the environment variable of a field. */
export function variableOf(field: Pick<Field, 'flag'>, envPrefix: string): string {
  return envPrefix + field.flag.toUpperCase().replaceAll('-', '_');
}

/**
 * The options of a program, with defaults. Throws `OPTIONS_INVALID` with a one-line message that names each rejected option where it was set,
 * its value and what is allowed.
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
    // A check over several fields has its own message; the field words all others.
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
  // Compose files and unit files spell "not set" as set but empty.
  if (env[variable] !== undefined && env[variable] !== '') return { value: read(field, env[variable]), name: variable };
  const value = file?.values[field.flag];
  if (value === undefined || value === null) return undefined;
  return { value: field.kind === 'list' ? split(value) : value, name: `${field.flag} in ${file?.path ?? ''}` };
}

/** The text, as the field's kind reads it. Text that cannot be read stays text and is rejected with the user's words. */
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

/** Environment variables with the program's prefix that set nothing: most likely misspelled. */
export function strayVariables(sources: Pick<Sources, 'env' | 'envPrefix'>, known: ReadonlySet<string>): string[] {
  // Kubernetes injects PREFIX_PORT... and PREFIX_SERVICE_... for a service of the program's name.
  const injected = new RegExp(`^${sources.envPrefix}(PORT|SERVICE_)`);
  return Object.keys(sources.env).filter(
    (name) => name.startsWith(sources.envPrefix) && !known.has(name) && !injected.test(name),
  );
}
