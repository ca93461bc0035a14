/** What the compiler and an editor report about a file that uses the published packages. */
import { symlinkSync, mkdirSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './workspace.js';

const STRICT: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  noEmit: true,
  // Nothing from Node unless a package requests it.
  types: [],
};

/** How consumers resolve packages. */
export const RESOLUTIONS: Readonly<Record<string, ts.CompilerOptions>> = {
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

/** Adds Node's types to a folder, like `npm i -D @types/node`. */
export function addNodeTypes(folder: string): void {
  const types = join(folder, 'node_modules/@types');
  mkdirSync(types, { recursive: true });
  if (!existsSync(join(types, 'node'))) symlinkSync(join(ROOT, 'node_modules/@types/node'), join(types, 'node'));
}

/** A file in a folder with installed packages, and what is reported about it. */
export class Consumer {
  readonly #path: string;
  readonly #text: string;
  readonly #service: ts.LanguageService;

  constructor(folder: string, name: string, text: string, resolution: ts.CompilerOptions) {
    this.#path = join(folder, name);
    this.#text = text;
    writeFileSync(this.#path, text);
    const options = { ...STRICT, ...resolution };
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [this.#path],
      getScriptVersion: () => '1',
      getScriptSnapshot: (path) => {
        const content = ts.sys.readFile(path);
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: (path) => ts.sys.fileExists(path),
      readFile: (path) => ts.sys.readFile(path),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
      realpath: (path) => ts.sys.realpath?.(path) ?? path,
    });
  }

  /** Compiler errors in this file and in all declarations of the project that it needs. */
  problems(): string[] {
    const program = this.#service.getProgram();
    const files = program
      ?.getSourceFiles()
      .filter(({ fileName }) => fileName === this.#path || /@proj\//.test(fileName));
    return (files ?? []).flatMap((file) =>
      [...(program?.getSyntacticDiagnostics(file) ?? []), ...(program?.getSemanticDiagnostics(file) ?? [])].map(
        ({ messageText }) => `${file.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
      ),
    );
  }

  /** What an editor shows for the names after a marker comment `?`, by name: their comment and their tags. */
  hovers(): Map<string, string> {
    const shown = new Map<string, string>();
    for (const { index, 0: mark } of this.#text.matchAll(/\/\*\?\*\//g)) {
      const info = this.#service.getQuickInfoAtPosition(this.#path, index + mark.length);
      const name = /^\w+/.exec(this.#text.slice(index + mark.length))?.[0] ?? '';
      const tags = (info?.tags ?? []).map(({ name: tag, text }) => `@${tag} ${ts.displayPartsToString(text)}`);
      shown.set(name, [ts.displayPartsToString(info?.documentation), ...tags].join('\n'));
    }
    return shown;
  }
}
