/** How every package of this repository is built. */
import { existsSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { defineConfig } from 'tsup';
import type { Options } from 'tsup';

/** The built page of `--http`, from the folder of a program. */
const PAGE = '../../packages/dashboard/dist';

/** What `exports` of a library's manifest says of one entry. */
interface Entry {
  readonly '@proj/source': string;
  readonly import: { readonly default: string };
}

/**
 * A library: the entries that its manifest exports, as ESM and CommonJS, with types. A class is the same one whichever entry it is imported from. Nothing is
 * minified, so stack traces need no source maps.
 */
export function library(options: Pick<Options, 'onSuccess' | 'shims'> = {}): ReturnType<typeof defineConfig> {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, string | Entry> };
  const entry: Record<string, string> = {};
  for (const target of Object.values(exports))
    if (typeof target !== 'string')
      entry[target.import.default.slice('./dist/'.length, -'.js'.length)] = target['@proj/source'];
  return defineConfig({
    entry,
    format: ['esm', 'cjs'],
    // Types are checked once, for the whole repository, by the task `types`; here siblings are what they publish.
    dts: { compilerOptions: { ignoreDeprecations: '6.0', noCheck: true, customConditions: [] } },
    clean: true,
    target: 'node20',
    platform: 'node',
    splitting: true,
    ...options,
  });
}

/** A program: a build of `src/main.ts` with all that it imports, but what has an add-on or is an optional peer. What is imported with `import()` stands in chunks, loaded when it is needed. */
export function program(options: { readonly onSuccess?: () => Promise<void> } = {}): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: { main: 'src/main.ts' },
    format: ['esm'],
    dts: false,
    clean: true,
    target: 'node20',
    platform: 'node',
    splitting: true,
    // Whatever the manifest calls a dependency is bundled all the same, but these.
    noExternal: [/^(?!zeromq$|lmdb$|pg$)/],
    external: ['zeromq', 'lmdb', 'pg'],
    // Siblings are bundled from their sources: a program can be built without building libraries first.
    esbuildOptions(esbuild) {
      esbuild.conditions = ['@proj/source'];
    },
    // Bundled CommonJS packages (commander, pino) load Node's own modules through `require`.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    async onSuccess() {
      if (existsSync(PAGE)) await cp(PAGE, 'dist/dashboard', { recursive: true });
      await options.onSuccess?.();
    },
  });
}
