/** One YAML file of an inventory: plain data, with `${VAR}` replaced, within bounds. Nothing in it is executed. */
import { ProjError } from '@proj/transport';
import { isNode, isScalar, Lexer, LineCounter, parseDocument, visit } from 'yaml';
import type { CollectionTag, Document, ScalarTag, Tags } from 'yaml';

/** Limits of one file: nesting depth, number of values after aliases are followed, and number of aliases. */
const DEPTH_MAX = 64;
const VALUES_MAX = 100_000;
const ALIASES_MAX = 100;

/** YAML tags that JSON cannot express; dates stay text. */
const NO_JSON = new Set(['binary', 'omap', 'pairs', 'set', 'timestamp'].map((name) => `tag:yaml.org,2002:${name}`));

const PYTHON_TRUE = /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const PYTHON_FALSE = /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/;

/** A file that was read. */
export interface InventoryDocument {
  /** Plain JSON; `null` for an empty file. */
  readonly value: unknown;
  /** Warnings for people, each with file and line. */
  readonly warnings: readonly string[];
  /** Refuses the value at these keys, or at the nearest existing key. */
  refuse(keys: readonly (string | number)[], must: string): ProjError;
}

/**
 * Reads the text of a file as YAML 1.1, the version that NORFAB reads; `warnsOfTemplates` if the file was not rendered. Throws `CORRUPT` naming file, line and
 * key.
 */
export function readDocument(
  path: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  warnsOfTemplates: boolean,
): InventoryDocument {
  const lines = new LineCounter();
  const refuse = (offset: number, what: string) =>
    new ProjError('CORRUPT', `${path}:${lines.linePos(offset).line}: ${what}`);
  const document = withinStack(path, () => {
    const options = { version: '1.1', lineCounter: lines, prettyErrors: false, logLevel: 'silent' } as const;
    return parseDocument(text, { ...options, customTags: (tags) => tags.filter(isJson).map(asPython) as Tags });
  });
  const problem = [...document.errors, ...document.warnings][0];
  if (problem?.message.includes('call stack') === true) throw tooMuch(path, `more than ${DEPTH_MAX} levels`);
  if (problem !== undefined) throw refuse(problem.pos[0], problem.message.split('\n', 1)[0] ?? '');
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string') return;
      node.value = substitute(node.value, env, (variable) => {
        const what = `variable ${variable} is not set: set it, or write \${${variable}:-default}`;
        return refuse(node.range?.[0] ?? 0, `${keysOf(ancestors, node)}: ${what}`);
      });
    },
  });
  const value = withinStack(path, () => document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown);
  measure(path, value);
  return {
    value,
    warnings: warnsOfTemplates ? jinjaWarnings(path, text) : [],
    refuse: (keys, must) => refuse(offsetOf(document, keys), `${keys.join('.')}: ${must}`),
  };
}

function isJson(tag: CollectionTag | ScalarTag | string): boolean {
  return typeof tag === 'string' || (!NO_JSON.has(tag.tag) && tag.format !== 'TIME');
}

/** YAML 1.1 reads `y` and `n` as true and false; PyYAML, and so NORFAB, does not. */
function asPython(tag: CollectionTag | ScalarTag | string): CollectionTag | ScalarTag | string {
  if (typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:bool' || !('test' in tag)) return tag;
  return { ...tag, test: tag.test.test('yes') ? PYTHON_TRUE : PYTHON_FALSE } as ScalarTag;
}

/** `$${` stands for `${`. As in shells, an empty variable counts as unset if there is a default. */
function substitute(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  unset: (variable: string) => Error,
): string {
  return text.replaceAll(
    /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
    (_, variable: string | undefined, fallback: string | undefined) => {
      if (variable === undefined) return '${';
      const value = env[variable];
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
      if (value === undefined) throw unset(variable);
      return value;
    },
  );
}

/** Deep nesting, cycles and aliases that multiply end a parser's recursion here, not the program. */
function withinStack<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw tooMuch(path, `more than ${DEPTH_MAX} levels`);
    if (error instanceof ReferenceError) throw tooMuch(path, `more than ${ALIASES_MAX} aliases`);
    throw error;
  }
}

function measure(path: string, value: unknown): void {
  let values = 0;
  const visitValue = (each: unknown, depth: number): void => {
    if (depth > DEPTH_MAX) throw tooMuch(path, `more than ${DEPTH_MAX} levels`);
    if (++values > VALUES_MAX) throw tooMuch(path, `more than ${VALUES_MAX} values`);
    if (typeof each !== 'object' || each === null) return;
    for (const child of Object.values(each)) visitValue(child, depth + 1);
  };
  visitValue(value, 0);
}

function tooMuch(path: string, what: string): ProjError {
  return new ProjError('CORRUPT', `${path}: ${what}: split it or make it smaller`);
}

/** The path of a value, such as `workers.sample-*.0.password`, from the nodes around it. */
function keysOf(ancestors: readonly unknown[], node: unknown): string {
  const keys: string[] = [];
  for (const [index, parent] of ancestors.entries()) {
    const child = ancestors[index + 1] ?? node;
    if (typeof parent !== 'object' || parent === null) continue;
    if ('key' in parent) keys.push(isScalar(parent.key) ? String(parent.key.value) : '?');
    else if ('items' in parent && Array.isArray(parent.items) && !isPair(child))
      keys.push(String(parent.items.indexOf(child)));
  }
  return keys.join('.');
}

function isPair(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'key' in node;
}

/** Where the value at these keys begins, or the nearest value around it. */
function offsetOf(document: Document.Parsed, keys: readonly (string | number)[]): number {
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(keys.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** NORFAB renders inventories with Jinja2. If that is turned off, templates are plain text, and a warning says so. */
function jinjaWarnings(path: string, text: string): string[] {
  let line = 1;
  let isBlock = false;
  for (const token of new Lexer().lex(text)) {
    const at = token.search(/\{\{|\{%/);
    const isComment = token.startsWith('#') && !isBlock;
    if (at >= 0 && !isComment) {
      const where = line + newlinesIn(token.slice(0, at));
      return [`${path}:${where}: looks like a Jinja2 template; it is read as plain YAML`];
    }
    isBlock = token === '\x1f';
    line += newlinesIn(token);
  }
  return [];
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}
