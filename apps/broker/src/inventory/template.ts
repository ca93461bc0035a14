/**
 * Inventories as templates of Jinja2, as NORFAB renders them: `{{ env.get("TOKEN") }}`, conditions, loops, includes. docs/adr/0022.
 *
 * Templates come from the operator, but many people may edit them, so a template reaches only its own values: a lookup finds own properties and a
 * few Python methods by name, but never a prototype, a constructor or a global. Time and size are bounded.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { runInNewContext } from 'node:vm';
import { ProjError } from '@proj/transport';
import nunjucks from 'nunjucks';

/** Limits of one template: milliseconds, output characters, items of one range, included templates. */
const RENDER_MS = 2000;
const OUTPUT_MAX = 1_048_576;
const RANGE_MAX = 10_000;
const INCLUDES_MAX = 32;

/** Bytes of an included file, the same as for any other file of an inventory. */
const FILE_MAX_BYTES = 1_048_576;

type Env = Readonly<Record<string, string | undefined>>;
type Method = (...args: readonly unknown[]) => unknown;

/** Functions that nunjucks calls while a template runs. */
interface Runtime {
  memberLookup(object: unknown, key: unknown): unknown;
  suppressValue(value: unknown): unknown;
}

const TOO_LONG = `makes more than ${OUTPUT_MAX} characters`;

/** Characters that the current render may still write. */
let left = 0;

const runtime = (nunjucks as unknown as { readonly runtime: Runtime }).runtime;
runtime.memberLookup = lookup;
runtime.suppressValue = (value) => {
  const text = textOf(value);
  left -= text.length;
  if (left < 0) throw new Error(TOO_LONG);
  return text;
};

/** True for text that Jinja2 would change. */
export function isTemplate(text: string): boolean {
  return /\{[{%#]/.test(text);
}

/**
 * Renders the text of a file. Includes are files in the folder `root`; each is reported to `onInclude`. Throws `CORRUPT` with the file and what is
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
    // The time limit applies to everything that runs meanwhile, wherever it was compiled.
    const made = runInNewContext('render()', { render }, { timeout: RENDER_MS }) as string;
    if (made.length > OUTPUT_MAX) throw new Error(TOO_LONG);
    return made;
  } catch (cause) {
    throw new ProjError('CORRUPT', `${path}: template: ${explain(cause)}`, { cause });
  }
}

/** Files of one folder, and nothing outside it. */
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
      throw new Error(`includes ${JSON.stringify(name)}, which is outside ${dirname(file)}`);
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES)
      throw new Error(`includes ${JSON.stringify(name)}, which is not a file of at most 1 MiB`);
    return { src: readFileSync(file, 'utf8'), path: file, noCache: true };
  }
}

/** Finds own properties, then Python methods; methods see only their arguments. */
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

/** Formats a value as Python prints it, which YAML reads back correctly; lists and mappings as JSON, which is YAML. */
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

/** Without a prototype, so that `in` finds only names of variables. */
function mapping(env: Env): Record<string, string> {
  const object = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(env)) if (value !== undefined) object[name] = value;
  return object;
}

function explain(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
    return `takes more than ${RENDER_MS} ms`;
  const text = error instanceof Error || hasMessage(error) ? error.message : String(error);
  // nunjucks begins its message with a file name that a text does not have.
  return text.replace(/^\(unknown path\)\s*/, '').replaceAll(/\s*\n\s*/g, ' ');
}

/** An error from another context. */
function hasMessage(error: unknown): error is { readonly message: string } {
  return typeof (error as { message?: unknown } | null)?.message === 'string';
}
