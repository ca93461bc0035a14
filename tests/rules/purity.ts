/** The mechanical proof that a file is pure: it bundles for no platform at all, and the bundle names nothing but the language. */
import { isAbsolute, join } from 'node:path';
import { build } from 'esbuild';
import { Linter } from 'eslint';
import { ROOT } from './workspace.js';

/** Codecs, and whatever is in a folder engine/ or shared/: files that must run anywhere, in any simulator. */
export function isPure(path: string): boolean {
  return (
    path.startsWith('packages/frames/src/') || /^packages\/[^/]+\/src\/(?:.+\/)?(?:engine|shared)\/[^/]+$/.test(path)
  );
}

/** What the language itself offers and a deterministic machine must not touch. */
const IMPURE: Linter.RulesRecord = {
  'no-undef': 'error',
  'no-restricted-globals': ['error', 'Date', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer'],
  'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
};

/** UTF-8, which the language lacks and every platform has: the same bytes for the same text everywhere, so no impurity. */
const TEXT_CODECS = { TextDecoder: 'readonly', TextEncoder: 'readonly' } as const;

/** What keeps `entry` from being pure, one sentence each; `contents` replaces what the file holds on disk. */
export async function impurities(entry: string, contents?: string): Promise<string[]> {
  const path = isAbsolute(entry) ? entry : join(ROOT, entry);
  const input =
    contents === undefined
      ? { entryPoints: [path] }
      : { stdin: { contents, loader: 'ts' as const, resolveDir: join(path, '..'), sourcefile: path } };
  const result = await build({
    ...input,
    bundle: true,
    write: false,
    platform: 'neutral',
    target: 'es2023',
    conditions: ['@proj/source'],
    external: [],
    logLevel: 'silent',
  }).catch((failure: unknown) => failure as { errors: { text: string }[]; outputFiles?: undefined });
  if (result.outputFiles === undefined) return result.errors.map(({ text }) => text);
  const bundle = result.outputFiles[0]?.text ?? '';
  const messages = new Linter().verify(bundle, {
    languageOptions: { ecmaVersion: 2023, globals: TEXT_CODECS },
    rules: IMPURE,
  });
  return messages.map(({ message }) => message);
}
