/** How every program of this repository is bundled. */
import { defineConfig } from 'tsup';
import type { Options } from 'tsup';

/** A build of `src/main.ts` with all that it imports, but what has an add-on or is an optional peer. What is imported with `import()` stands in chunks, loaded when it is needed. */
export function program(options: Pick<Options, 'onSuccess'> = {}): ReturnType<typeof defineConfig> {
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
    ...options,
  });
}
