/** The mechanical proof that a file is pure: it bundles for no platform at all, and the bundle names nothing but the language. */
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { Linter } from 'eslint';
import { ROOT } from './workspace.js';

/** Codecs, and whatever is in a folder engine/ or shared/: files that must run anywhere, in any simulator. */
export function isPure(path: string): boolean {
  return path.startsWith('packages/frames/src/') || /^packages\/[^/]+\/src\/(?:.+\/)?(?:engine|shared)\/.+$/.test(path);
}

/** What the language itself offers and a deterministic machine must not touch. */
const IMPURE: Linter.RulesRecord = {
  'no-undef': 'error',
  'no-restricted-globals': ['error', 'Date', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer'],
  'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
};

/** UTF-8, which the language lacks and every platform has: the same bytes for the same text everywhere, so no impurity. */
const TEXT_CODECS = { TextDecoder: 'readonly', TextEncoder: 'readonly' } as const;

/** What keeps `path` from being pure, one sentence each; `contents` replaces what the file holds on disk. */
export function impurities(path: string, contents?: string): Promise<string[]> {
  const file = join(ROOT, path);
  return impuritiesOf(
    contents === undefined
      ? { entryPoints: [file] }
      : { stdin: { contents, loader: 'ts', resolveDir: dirname(file), sourcefile: file } },
  );
}

/** What keeps any of these files from being pure. Says as much as {@link impurities} of each, but not of which, and looks only once at what they share. */
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
