/** The code on the pages that users read: found, turned into modules as a user would do it, compiled, and run by `snippets-run.mjs`. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownEndpoint } from '@proj/testkit';
import ts from 'typescript';
import type { Block } from './pages.js';
import { PACKAGES, ROOT } from './workspace.js';

/** What a snippet printed, and how it ended. */
export interface Outcome {
  readonly printed: string;
  readonly error: string | undefined;
}

/** The languages of blocks that are modules. */
export const CODE: ReadonlySet<string> = new Set(['js', 'ts', 'mjs', 'mts', 'javascript', 'typescript']);

/** The specifiers that a snippet imports. */
export function importsOf({ text }: Block): string[] {
  return [...text.matchAll(/^import [^;]*?'([^']+)';/gm)].map(([, specifier]) => specifier ?? '');
}

/** `@proj/client/mdp` is in the package `@proj/client`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const isBare = (specifier: string) => !/^(\.|node:)/.test(specifier) && !builtinModules.includes(specifier);

/** A block whose first line is `// NAME.mjs` is that file, for the blocks around it. */
const fileNamedBy = ({ text }: Block) => /^\/\/ ([\w-]+\.mjs)\n/.exec(text)?.[1];

/** A folder with the snippets as modules, and with their imports installed. */
export class Workshop {
  readonly #folder: string;
  readonly #snippets: readonly Block[];

  constructor(folder: string, snippets: readonly Block[]) {
    this.#folder = folder;
    this.#snippets = snippets;
    const imported = snippets.flatMap(importsOf).filter(isBare).map(packageOf);
    for (const name of new Set([...imported, '@types/node'])) this.#link(name);
    for (const [index, { text }] of snippets.entries()) writeFileSync(join(folder, `${index}.mts`), text);
  }

  /** Compiler errors, by the name of the snippet: one program for all. */
  problems(): Map<string, string[]> {
    const files = this.#snippets.map((_, index) => join(this.#folder, `${index}.mts`));
    const program = ts.createProgram(files, {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      moduleDetection: ts.ModuleDetectionKind.Force,
      // No `Disposable`: code on a page must run on Node 20.
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(this.#folder, 'node_modules/@types')],
      skipLibCheck: true,
      noEmit: true,
    });
    return new Map(
      this.#snippets.map(({ name }, index) => {
        const file = program.getSourceFile(files[index] ?? '');
        const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
        return [name, found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
      }),
    );
  }

  /** Runs the selected snippets, one after the other in one process, beside a broker, workers and a queue. */
  async run(chosen: ReadonlySet<Block>): Promise<Map<string, Outcome>> {
    const world = await freePorts();
    const programs = await Promise.all(
      this.#snippets.map(async (snippet, index) => {
        const path = join(this.#folder, fileNamedBy(snippet) ?? `${index}.mjs`);
        const ports = isServer(snippet) ? await freePorts() : world;
        writeFileSync(path, asModule(withPorts(snippet, ports)));
        return { name: snippet.name, path, ports, runs: chosen.has(snippet) };
      }),
    );
    const running = programs.filter(({ runs }) => runs);
    writeFileSync(join(this.#folder, 'programs.json'), JSON.stringify({ world, programs: running }));
    const runner = join(dirname(fileURLToPath(import.meta.url)), 'snippets-run.mjs');
    await promisify(execFile)(process.execPath, [runner, this.#folder], { cwd: this.#folder, timeout: 600_000 });
    const outcomes = JSON.parse(readFileSync(join(this.#folder, 'outcomes.json'), 'utf8')) as Record<string, Outcome>;
    return new Map(Object.entries(outcomes));
  }

  /** Links a package as in an installation: one of ours, or a dependency of one of ours. */
  #link(name: string): void {
    const path = join(this.#folder, 'node_modules', name);
    const own = PACKAGES.find(({ manifest }) => manifest.name === name);
    const folders = ['tests', '.', ...PACKAGES.map(({ dir }) => dir)].map((dir) => join(dir, 'node_modules', name));
    const found = own?.dir ?? folders.find((folder) => existsSync(join(ROOT, folder)));
    if (found === undefined) throw new Error(`a snippet imports ${name}, which no package here has`);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, found), path);
  }
}

/** The default ports of our programs, each with its option in the classes that have such a default. */
const PORTS = [5555, 5556, 5557, 5558, 5559, 11131, 11132, 11133, 47290, 47291, 47293, 47298, 47299] as const;
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, (typeof PORTS)[number]>>>> = {
  EmqpBroker: { frontend: 47291, backend: 47290, admin: 47293 },
  EmqpPubSub: { publish: 47298, subscribe: 47299 },
  PzqServer: { receive: 11131, send: 11132, monitor: 11133 },
};

/** A free endpoint for each default one. */
type Ports = Readonly<Record<string, string>>;

async function freePorts(): Promise<Ports> {
  const pairs = PORTS.map(async (port) => [`tcp://127.0.0.1:${port}`, await ownEndpoint()] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

/** A snippet that binds gets its own ports; the others use the shared servers. */
const isServer = ({ text }: Block) => /new \w+(Broker|Pool|PubSub|Queue|Server)\(/.test(text);

/** The snippet with free endpoints in place of the default ones, including those that it does not write. */
function withPorts({ text }: Block, ports: Ports): string {
  const explicit = Object.entries(DEFAULTS).reduce((code, [name, options]) => {
    const fields = Object.entries(options).map(([option, port]) => `${option}: 'tcp://127.0.0.1:${port}', `);
    return code
      .replaceAll(`new ${name}()`, `new ${name}({ ${fields.join('')}})`)
      .replaceAll(`new ${name}({ ${fields.join('')}})`, `new ${name}({${fields.join('')}})`)
      .replaceAll(new RegExp(`new ${name}\\(\\{(?!${fields[0]})`, 'g'), `new ${name}({ ${fields.join('')}`);
  }, text);
  return Object.entries(ports).reduce((code, [usual, free]) => code.replaceAll(usual, free), explicit);
}

const asModule = (text: string) =>
  ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  }).outputText;

/** What a snippet says that it prints: the comments after `console.log(...);`. `...` stands for anything. */
export function promisesOf({ text }: Block): string[] {
  return [...text.matchAll(/console\.log\(.*\);[ ]*\/\/ (.+)$/gm)].map(([, promise]) => promise ?? '');
}

/** True if a printed text contains a promised one, whatever the line breaks. */
export function printedAsPromised(printed: string, promise: string): boolean {
  const pattern = promise
    .trim()
    .split('...')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const flexible = pattern.map((part) => part.replaceAll(/\s+/g, '\\s+'));
  return new RegExp(flexible.join('[^]*?')).test(printed);
}
