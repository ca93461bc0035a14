/** Options are parsed once, at construction, with one wording for every refusal. */
import { ProjError } from './errors.js';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The part of a zod schema that {@link parseOptions} needs. Structural, so that this package needs no zod. */
export interface OptionsSchema<Output> {
  safeParse(
    input: unknown,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

/**
 * Validated options with all defaults filled in. Throws `OPTIONS_INVALID`, whose message names `owner`, each refused
 * option, its value and what is allowed.
 */
export function parseOptions<Output>(owner: string, schema: OptionsSchema<Output>, input: unknown): Output {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issues = result.error.issues;
  const text = issues.map((issue) => describe(issue, input)).join('; ');
  throw new ProjError('OPTIONS_INVALID', `${owner}: ${text}`, { details: issues });
}

function describe(issue: Issue, input: unknown): string {
  if (issue.path.length === 0) return issue.message;
  let value: unknown = input;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return `option ${issue.path.map(String).join('.')} = ${show(value)}: ${issue.message}`;
}

function show(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
