/** Who may import whom: the table of docs/ARCHITECTURE.md as a checker. Works on texts, so that a test can invent files. */
import { posix } from 'node:path';
import ts from 'typescript';
import type { SourceFile } from './workspace.js';

/** One import that breaks a rule. */
export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly specifier: string;
  readonly reason: string;
}

interface Import {
  readonly specifier: string;
  /** Erased by the compiler: nothing remains at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

interface Context {
  readonly path: string;
  /** Path of the imported file from the root, for relative imports. */
  readonly target: string | undefined;
  readonly found: Import;
  /** True if a file in engine/ or shared/ needs this file at run time, directly or through others. */
  readonly pure: boolean;
}

interface Rule {
  readonly name: string;
  readonly reason: string;
  readonly broken: (context: Context) => boolean;
}

const ROLES = /^packages\/(broker|worker|client|pzq|scheduler)\/src\//;
const SHARES_FILES = /^packages\/(broker|worker)\/src\/nfp\//;
const PURE_ROOT = /^packages\/[^/]+\/src\/(?:.+\/)?(?:engine|shared)\/.+$/;
/** Reads cron expressions with a library. */
const CRON = 'packages/scheduler/src/cron.ts';
/** Both of its variants: schemas with methods, and the small ones. */
const isZod = (specifier: string): boolean => specifier === 'zod' || specifier === 'zod/mini';
const isNode = (specifier: string) => specifier.startsWith('node:');
const isRelative = (specifier: string) => specifier.startsWith('.');
const isProject = (specifier: string) => specifier.startsWith('@proj/');
const inRole = (path: string) => ROLES.test(path);
const isOptions = (path: string) => path.endsWith('/options.ts');
const isStore = (path: string) => /\/src\/store\//.test(path);

/** `packages/broker/src/mdp/engine/engine.ts` is in folder `mdp`; files directly in `src` are in none. */
function folderOf(path: string): string | undefined {
  return /^(?:packages|apps)\/[^/]+\/src\/([^/]+)\//.exec(path)?.[1];
}

const RULES: readonly Rule[] = [
  {
    name: 'public-entries-only',
    reason: "no package imports another package's src or dist",
    broken: ({ path, target, found }) =>
      /^@proj\/[^/]+\/(src|dist)(\/|$)/.test(found.specifier) ||
      (target !== undefined && !target.startsWith(path.split('/').slice(0, 2).join('/') + '/')),
  },
  {
    name: 'protocols-apart',
    reason: 'folders of one package share only shared/ and, in a package with one protocol, engine/',
    broken: ({ path, target }) => {
      const from = folderOf(path);
      const to = target === undefined ? undefined : folderOf(target);
      if (!path.startsWith('packages/') || from === undefined || to === undefined || from === to) return false;
      return from !== 'engine' && to !== 'shared' && to !== 'engine';
    },
  },
  {
    name: 'codecs-import-nothing',
    reason: 'frames has no dependencies',
    broken: ({ path, found }) => path.startsWith('packages/frames/') && !isRelative(found.specifier),
  },
  {
    name: 'heartbeat-imports-nothing',
    reason: 'heartbeat has no dependencies',
    broken: ({ path, found }) => path.startsWith('packages/heartbeat/') && !isRelative(found.specifier),
  },
  {
    name: 'transport-below-roles',
    reason:
      'transport knows heartbeat, the byte helpers and the types of frames; its folder service knows all of frames; only its folders zmq and curve know node:*, only zmq zeromq, only tracing node:diagnostics_channel, only schemas.ts and peer-schemas.ts zod',
    broken: ({ path, found: { specifier, typeOnly } }) => {
      if (!path.startsWith('packages/transport/') || isRelative(specifier)) return false;
      if (
        specifier === '@proj/heartbeat' ||
        specifier === '@proj/frames' ||
        (typeOnly && /^@proj\/frames(\/|$)/.test(specifier))
      )
        return false;
      if (/^packages\/transport\/src\/(peer-)?schemas\.ts$/.test(path)) return !isZod(specifier);
      if (path.startsWith('packages/transport/src/service/')) return !/^@proj\/frames(\/|$)/.test(specifier);
      if (path.startsWith('packages/transport/src/curve/')) return !isNode(specifier);
      if (path.startsWith('packages/transport/src/tracing/')) return specifier !== 'node:diagnostics_channel';
      return !(path.startsWith('packages/transport/src/zmq/') && (isNode(specifier) || specifier === 'zeromq'));
    },
  },
  {
    name: 'zmtp-without-addons',
    reason: 'zmtp knows heartbeat, transport and node:*; only primitives.ts and boxes know its ciphers',
    broken: ({ path, found: { specifier } }) =>
      path.startsWith('packages/zmtp/') &&
      !(/^packages\/zmtp\/src\/(primitives\.ts$|boxes\/)/.test(path) && /^@noble\/ciphers\//.test(specifier)) &&
      !isRelative(specifier) &&
      !isNode(specifier) &&
      !/^@proj\/(heartbeat|transport)(\/|$)/.test(specifier),
  },
  {
    name: 'store-below-roles',
    reason: 'durable records know transport, their databases and node:*',
    broken: ({ path, found: { specifier } }) =>
      path.startsWith('packages/store/') &&
      !isRelative(specifier) &&
      !isNode(specifier) &&
      !['lmdb', 'pg'].includes(specifier) &&
      !/^@proj\/transport(\/|$)/.test(specifier),
  },
  {
    name: 'files-below-roles',
    reason: 'the package files knows the error class of transport and node:*',
    broken: ({ path, found: { specifier } }) =>
      path.startsWith('packages/files/') &&
      !isRelative(specifier) &&
      !isNode(specifier) &&
      specifier !== '@proj/transport',
  },
  {
    name: 'observe-above-facades',
    reason:
      'observe knows transport, heartbeat, node:*, fastify with helmet in http.ts and prom-client in collect.ts; it receives facades',
    broken: ({ path, found: { specifier } }) =>
      path.startsWith('packages/observe/src/') &&
      !isRelative(specifier) &&
      !isNode(specifier) &&
      !/^@proj\/(transport|heartbeat)(\/|$)/.test(specifier) &&
      !(path.endsWith('/http.ts') && /^(fastify|@fastify\/helmet)$/.test(specifier)) &&
      !(path.endsWith('/collect.ts') && specifier === 'prom-client'),
  },
  {
    name: 'model-imports-nothing',
    reason: 'what programs show is imported only by the programs, the page and proj top',
    broken: ({ path }) => path === 'packages/observe/src/model.ts',
  },
  {
    name: 'engines-are-pure',
    reason:
      'files in engine/ and shared/ and what they use know frames, heartbeat, transport/engine and the types of transport; those of the page know the model, which is as pure',
    broken: ({ path, pure, found: { specifier, typeOnly } }) => {
      if (!pure || isRelative(specifier)) return false;
      if (path.startsWith('packages/dashboard/') && specifier === '@proj/observe/model') return false;
      if (/^@proj\/(frames|heartbeat)(\/|$)/.test(specifier)) return false;
      return specifier !== '@proj/transport/engine' && !(specifier === '@proj/transport' && typeOnly);
    },
  },
  {
    name: 'options-only-zod',
    reason: 'options.ts declares a schema and knows only zod and the schemas of transport',
    broken: ({ path, found }) =>
      inRole(path) &&
      isOptions(path) &&
      !isZod(found.specifier) &&
      !/^@proj\/transport\/(peer-)?schemas$/.test(found.specifier) &&
      !isOptionsNeighbour(found.specifier, found.typeOnly),
  },
  {
    name: 'stores-only-database',
    reason: 'a store knows its contract, its database, the folders of store and the error class of transport',
    broken: ({ path, target, found: { specifier } }) => {
      if (!isStore(path)) return false;
      if (isProject(specifier)) return specifier !== '@proj/transport' && specifier !== '@proj/store/lmdb-folder';
      return target !== undefined && !isStore(target);
    },
  },
  {
    name: 'facades-no-other-packages',
    reason:
      'role packages know frames, heartbeat, transport, zmtp and node:*, those that share files also files; zod stays in options.ts',
    broken: ({ path, found: { specifier } }) => {
      if (!inRole(path) || isOptions(path) || isStore(path) || isRelative(specifier) || isNode(specifier)) return false;
      if (specifier === '@proj/files') return !SHARES_FILES.test(path);
      if (path === CRON && specifier === 'croner') return false;
      return !/^@proj\/(frames|heartbeat|transport|zmtp)(\/|$)/.test(specifier);
    },
  },
];

/** Options of several facades share fields through a sibling `options.ts`; types cost nothing. */
function isOptionsNeighbour(specifier: string, typeOnly: boolean): boolean {
  return typeOnly || (isRelative(specifier) && specifier.endsWith('options.js'));
}

/** All violations in these files, in order. Imports of files that are not in the list are not followed. */
export function checkImports(files: readonly SourceFile[]): Violation[] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  const pure = closureOfEngines(imports);
  const violations: Violation[] = [];
  for (const [path, list] of imports) {
    for (const found of list) {
      const context = { path, found, target: resolve(path, found.specifier), pure: pure.has(path) };
      for (const { name: rule, reason, broken } of RULES)
        if (broken(context)) violations.push({ rule, path, line: found.line, specifier: found.specifier, reason });
    }
  }
  return violations;
}

/** The names of all rules, for the test that each of them can fail. */
export const RULE_NAMES: readonly string[] = RULES.map(({ name }) => name);

function closureOfEngines(imports: ReadonlyMap<string, readonly Import[]>): ReadonlySet<string> {
  const pure = new Set([...imports.keys()].filter((path) => PURE_ROOT.test(path)));
  for (const path of pure) {
    for (const { specifier, typeOnly } of imports.get(path) ?? []) {
      const target = resolve(path, specifier);
      if (target !== undefined && !typeOnly) pure.add(target);
    }
  }
  return pure;
}

function resolve(path: string, specifier: string): string | undefined {
  if (!isRelative(specifier)) return undefined;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

function importsOf({ path, text }: SourceFile): Import[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean) => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    found.push({ specifier: node.text, typeOnly, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && isLoad(node.expression)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isLoad(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}
