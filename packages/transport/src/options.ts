/** Parses options once, at construction, with uniform error messages. */
import { ProjError } from './errors.js';

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** For unknown options: their names. */
  readonly keys?: readonly string[];
  /** For a value that matches none of several kinds: the issues of each kind. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The part of a zod schema that {@link parseOptions} needs. Structural, so that this package does not need zod. */
export interface OptionsSchema<Output> {
  safeParse(
    input: unknown,
  ):
    | { readonly success: true; readonly data: Output }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

/**
 * Validated options with all defaults. Throws `OPTIONS_INVALID` with a message that names `owner`, each rejected option, its value and what is
 * allowed, and suggests a name for an unknown option.
 */
export function parseOptions<Output>(owner: string, schema: OptionsSchema<Output>, input: unknown): Output {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issues = result.error.issues;
  const text = issues.map((issue) => describe(issue, schema, input)).join('; ');
  throw new ProjError('OPTIONS_INVALID', `${owner}: ${text}`, { details: issues });
}

function describe(issue: Issue, schema: unknown, input: unknown): string {
  if (issue.keys !== undefined) {
    const known = knownNames(schema, issue.path);
    return issue.keys.map((key) => unknownOption(key, issue.path, known)).join('; ');
  }
  if (issue.path.length === 0) return allowed(issue);
  let value: unknown = input;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return `option ${issue.path.map(String).join('.')} = ${show(value)}: ${allowed(issue)}`;
}

/** What is allowed, without zod's opening words; for several kinds, all of them. */
function allowed({ message, errors = [] }: Issue): string {
  if (message === 'Invalid input' && errors.length > 0)
    return errors.flatMap((issues) => issues.slice(0, 1).map(allowed)).join(', or ');
  return message.replace(/^Invalid (?:input|option): /, '');
}

function unknownOption(key: string, path: readonly PropertyKey[], known: readonly string[]): string {
  const full = (name: string): string => [...path.map(String), name].join('.');
  const guess = nearest(key, known);
  if (guess !== undefined) return `unknown option ${full(key)}: did you mean \`${full(guess)}\`?`;
  return `unknown option ${full(key)}${known.length > 0 ? `: must be one of ${known.join(', ')}` : ''}`;
}

/** The parts of a zod definition that lead to the object at a path. Checked on access, because it may be any schema. */
interface Definition {
  readonly shape?: Readonly<Record<PropertyKey, unknown>>;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly in?: unknown;
}

/** The options that a schema knows at a path; empty if unknown. */
function knownNames(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const { shape, element, innerType, in: input } = (schema as { readonly def?: Definition } | undefined)?.def ?? {};
  const inner = innerType ?? input;
  if (inner !== undefined) return knownNames(inner, path);
  const [key, ...rest] = path;
  if (key === undefined) return Object.keys(shape ?? {});
  return knownNames(element ?? shape?.[key], rest);
}

/** The name that was probably meant: one with this prefix, or the nearest within edits of a third of its letters. */
function nearest(key: string, known: readonly string[]): string | undefined {
  const word = key.toLowerCase();
  const editsTo = (name: string): number => (word.length > 2 && name.startsWith(word) ? 1 : editsBetween(word, name));
  const ranked = known.map((name) => ({ name, edits: editsTo(name.toLowerCase()) }));
  const [best] = ranked.sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Number of letters to insert, delete, replace, or swap with a neighbour to turn one word into the other. */
function editsBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, isSwap ? at(i - 2, j - 2) + 1 : Infinity));
    }
  }
  return at(from.length, to.length);
}

function show(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
