import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: ['esm'],
  dts: false,
  clean: true,
  target: 'node20',
  platform: 'node',
  splitting: false,
  noExternal: [/^@proj\//, 'zod'],
  external: ['zeromq', 'lmdb', 'pg'],
  // Siblings are bundled from their sources: a program can be built without building libraries first.
  esbuildOptions(options) {
    options.conditions = ['@proj/source'];
  },
  // Bundled CommonJS packages (commander, pino) load Node's own modules through `require`.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});
