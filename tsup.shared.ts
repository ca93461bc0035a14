/** How every package of this repository is built. */
import { cp } from 'node:fs/promises';
import { defineConfig } from 'tsup';
import type { Options } from 'tsup';
import { inventory } from './deploy/inventory.mjs';
import { writeLauncher } from './deploy/launcher.mjs';
import { entriesOf } from './scripts/entries.mjs';

/** The built page of `--http`, from the folder of a program. */
const PAGE = '../../packages/dashboard/dist';

/**
 * A library: the entries that its manifest exports, as ESM; `scripts/finish-library.mjs` adds CommonJS. A class is the same one whichever entry it is imported from.
 * Nothing is minified, so stack traces need no source maps.
 */
export function library(options: Pick<Options, 'esbuildPlugins' | 'onSuccess'> = {}): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: Object.fromEntries(entriesOf('.').map(({ name, source }) => [name, source])),
    format: ['esm'],
    dts: false,
    // Declarations come from a task of their own: scripts/declarations.mjs.
    clean: ['!**/*.d.ts', '!**/*.d.cts'],
    target: 'node20',
    platform: 'node',
    splitting: true,
    ...options,
  });
}

/**
 * A program: a build of `src/main.ts` and all it imports, except what has an add-on or is an optional peer. What is imported with `import()` becomes a chunk,
 * loaded when it is needed. Beside it stand the launcher (`main.js`), the inventory (`sbom.cdx.json`) and the licences of what was bundled. With `page`, the
 * dashboard stands there, too: `turbo.json` of the program has it built first.
 */
export function program(
  options: { readonly page?: boolean; readonly onSuccess?: () => Promise<void> } = {},
): ReturnType<typeof defineConfig> {
  return defineConfig({
    entry: { program: 'src/main.ts' },
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
    esbuildPlugins: [inventory()],
    // Bundled CommonJS packages (commander, pino) load Node's own modules through `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    async onSuccess() {
      if (options.page === true) await cp(PAGE, 'dist/dashboard', { recursive: true });
      await options.onSuccess?.();
      await writeLauncher('dist');
    },
  });
}
