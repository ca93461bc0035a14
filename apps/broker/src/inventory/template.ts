/**
 * Inventories as templates of Jinja2, as NORFAB renders them: `{{ env.get("TOKEN") }}`, conditions, loops, includes. docs/adr/0022.
 *
 * A template is data of an operator, but often one that many may edit, so it gets no further than its own values: a lookup finds what an object has
 * itself, and a few methods of Python's by name; there is no way to a prototype, a constructor or a global. Time and size are bounded.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { runInNewContext } from 'node:vm';
import { ProjError } from '@proj/transport';
import nunjucks from 'nunjucks';

/** What one template may take: milliseconds, characters that it makes, items of one range, templates it includes. */
const RENDER_MS = 2000;
const OUTPUT_MAX = 1_048_576;
const RANGE_MAX = 10_000;
const INCLUDES_MAX = 32;

/** Bytes of an included file, as of any other of an inventory. */
const FILE_MAX_BYTES = 1_048_576;

type Env = Readonly<Record<string, string | undefined>>;
type Method = (...args: readonly unknown[]) => unknown;

/** What nunjucks calls of itself while a template runs. */
interface Runtime {
  memberLookup(object: unknown, key: unknown): unknown;
  suppressValue(value: unknown): unknown;
}

const TOO_LONG = `makes more than ${OUTPUT_MAX} characters`;

/** Characters that the render under way may still write. */
let left = 0;

const runtime = (nunjucks as unknown as { readonly runtime: Runtime }).runtime;
runtime.memberLookup = lookup;
runtime.suppressValue = (value) => {
  const text = textOf(value);
  left -= text.length;
  if (left < 0) throw new Error(TOO_LONG);
  return text;
};

/** True for a text that Jinja2 would change. */
export function isTemplate(text: string): boolean {
  return /\{[{%#]/.test(text);
}

/**
 * The text of a file, rendered. Includes are files of the folder `root`; each is told to `onInclude`. Throws `CORRUPT` naming the file and what is
 * wrong.
 */
export function renderTemplate(
  path: string,
  text: string,
  { root, env, onInclude }: { readonly root: string; readonly env: Env; readonly onInclude: (file: string) => void },
): string {
  if (!isTemplate(text)) return text;
  const loader = new FolderLoader(root, onInclude);
  const environment = new nunjucks.Environment(loader, { autoescape: false });
  for (const name of ['cycler', 'joiner']) environment.addGlobal(name, undefined);
  environment.addGlobal('range', range);
  left = OUTPUT_MAX;
  const render = (): string => environment.renderString(text, { env: mapping(env) });
  try {
    // The limit of time holds for all that runs meanwhile, wherever it was compiled.
    const made = runInNewContext('render()', { render }, { timeout: RENDER_MS }) as string;
    if (made.length > OUTPUT_MAX) throw new Error(TOO_LONG);
    return made;
  } catch (cause) {
    throw new ProjError('CORRUPT', `${path}: template: ${explain(cause)}`, { cause });
  }
}

/** Files of one folder, and nothing outside of it. */
class FolderLoader {
  readonly async = false;
  readonly #root: string;
  readonly #onInclude: (file: string) => void;
  #included = 0;

  constructor(root: string, onInclude: (file: string) => void) {
    this.#root = root;
    this.#onInclude = onInclude;
  }

  getSource(name: string): nunjucks.LoaderSource {
    if (++this.#included > INCLUDES_MAX) throw new Error(`includes more than ${INCLUDES_MAX} files`);
    const file = resolve(this.#root, name);
    this.#onInclude(file);
    const inside = relative(realpathSync(this.#root), realpathSync(file));
    if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside)
      throw new Error(`includes ${JSON.stringify(name)}, which is outside of ${dirname(file)}`);
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES)
      throw new Error(`includes ${JSON.stringify(name)}, which is no file of at most 1 MiB`);
    return { src: readFileSync(file, 'utf8'), path: file, noCache: true };
  }
}

/** What an object has itself, then what Python's have; methods never see more than their arguments. */
function lookup(object: unknown, key: unknown): unknown {
  if (object === undefined || object === null || (typeof key !== 'string' && typeof key !== 'number')) return undefined;
  if (typeof object === 'string') {
    if (key === 'length') return object.length;
    return typeof key === 'number' ? object[key] : methodOf(ON_TEXT, key, object);
  }
  if (typeof object !== 'object') return undefined;
  if (!Array.isArray(object)) {
    const method = methodOf(ON_MAPPING, key, object as Record<string, unknown>);
    if (method !== undefined) return method;
  }
  const value: unknown = Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
  return value;
}

const ON_TEXT: Readonly<Record<string, (text: string) => Method>> = {
  lower: (text) => () => text.toLowerCase(),
  upper: (text) => () => text.toUpperCase(),
  strip: (text) => () => text.trim(),
  split: (text) => (by) => (by === undefined ? text.trim().split(/\s+/) : text.split(textOf(by))),
  startswith: (text) => (with_) => text.startsWith(textOf(with_)),
  endswith: (text) => (with_) => text.endsWith(textOf(with_)),
  replace: (text) => (old, by) => text.replaceAll(textOf(old), () => textOf(by)),
};

const ON_MAPPING: Readonly<Record<string, (object: Record<string, unknown>) => Method>> = {
  get:
    (object) =>
    (key, fallback = null) =>
      Object.hasOwn(object, String(key)) ? object[String(key)] : fallback,
  keys: (object) => () => Object.keys(object),
  values: (object) => () => Object.values(object),
  items: (object) => () => Object.entries(object),
};

function methodOf<Self>(
  methods: Readonly<Record<string, (self: Self) => Method>>,
  key: string | number,
  self: Self,
): Method | undefined {
  return Object.hasOwn(methods, key) ? methods[key]?.(self) : undefined;
}

/** As Python prints it, which YAML reads as it is meant; lists and mappings as JSON, which is YAML. */
function textOf(value: unknown): string {
  if (value === undefined || typeof value === 'function') return '';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return value;
  if (value instanceof String) return value.valueOf();
  return typeof value === 'number' ? value.toString() : JSON.stringify(value);
}

function range(...bounds: readonly unknown[]): number[] {
  const [first = 0, last, step = 1] = bounds.map(Number);
  const [start, end] = last === undefined ? [0, first] : [first, last];
  if (!(Math.abs((end - start) / step) <= RANGE_MAX)) throw new Error(`range of more than ${RANGE_MAX} items`);
  return Array.from({ length: Math.max(0, Math.ceil((end - start) / step)) }, (_, index) => start + index * step);
}

/** Without a prototype: `in` finds names of variables and nothing else. */
function mapping(env: Env): Record<string, string> {
  const object = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(env)) if (value !== undefined) object[name] = value;
  return object;
}

function explain(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
    return `takes more than ${RENDER_MS} ms`;
  const text = error instanceof Error || hasMessage(error) ? error.message : String(error);
  // nunjucks begins with the name of a file that a text does not have.
  return text.replace(/^\(unknown path\)\s*/, '').replaceAll(/\s*\n\s*/g, ' ');
}

/** An error of another context. */
function hasMessage(error: unknown): error is { readonly message: string } {
  return typeof (error as { message?: unknown } | null)?.message === 'string';
}
