/** The mechanical proof that a file is pure: it can be bundled for no platform at all, and the bundle uses only the language. */
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { Linter } from 'eslint';
import { ROOT } from './workspace.js';

/** Codecs, and everything in a folder engine/ or shared/: files that must run anywhere, in any simulator. */
export function isPure(path: string): boolean {
  return path.startsWith('packages/frames/src/') || /^packages\/[^/]+\/src\/(?:.+\/)?(?:engine|shared)\/.+$/.test(path);
}

/** What the language itself offers but a deterministic machine must not use. */
const IMPURE: Linter.RulesRecord = {
  'no-undef': 'error',
  'no-restricted-globals': ['error', 'Date', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer'],
  'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
};

/**
 * UTF-8, which the language lacks and every platform has: the same bytes for the same text everywhere, so it is not an
 * impurity.
 */
const TEXT_CODECS = { TextDecoder: 'readonly', TextEncoder: 'readonly' } as const;

/** What makes `path` impure, one sentence each; `contents` replaces the file on disk. */
export function impurities(path: string, contents?: string): Promise<string[]> {
  const file = join(ROOT, path);
  return impuritiesOf(
    contents === undefined
      ? { entryPoints: [file] }
      : { stdin: { contents, loader: 'ts', resolveDir: dirname(file), sourcefile: file } },
  );
}

/** What makes any of these files impure. Reports as much as {@link impurities} of each, but not which file it is, and checks shared code only once. */
export function impuritiesAmong(paths: readonly string[]): Promise<string[]> {
  return impuritiesOf({ entryPoints: paths.map((path) => join(ROOT, path)), splitting: true });
}

async function impuritiesOf(input: BuildOptions): Promise<string[]> {
  const result = await build({
    ...input,
    bundle: true,
    format: 'esm',
    outdir: ROOT,
    write: false,
    platform: 'neutral',
    target: 'es2023',
    conditions: ['@proj/source'],
    external: [],
    logLevel: 'silent',
  }).catch((failure: unknown) => failure as { errors: { text: string }[]; outputFiles?: undefined });
  if (result.outputFiles === undefined) return result.errors.map(({ text }) => text);
  const linter = new Linter();
  const settings: Linter.Config = { languageOptions: { ecmaVersion: 2023, globals: TEXT_CODECS }, rules: IMPURE };
  return result.outputFiles.flatMap(({ text }) => linter.verify(text, settings).map(({ message }) => message));
}
