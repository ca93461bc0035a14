import { readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';

/** The processes under test: servers of ours, and bare loops. */
const servers = Object.fromEntries(
  readdirSync('src')
    .filter((file) => /^bare-|-(broker|queue)[.-]/.test(file))
    .map((file) => [file.replace('.ts', ''), `src/${file}`]),
);

export default defineConfig({
  entry: {
    main: 'src/main.ts',
    load: 'src/load.ts',
    'http-siege': 'src/http-siege.ts',
    'chain-process': 'src/chain/process.ts',
    ...servers,
    'emqp-jobs': 'src/emqp-jobs.ts',
    'emqp-manager': 'src/emqp-manager.ts',
    'scale-engine': 'src/scale/engine-process.ts',
    'scale-load': 'src/scale/load.ts',
    'zmtp-middle': 'src/zmtp-middle.ts',
  },
  format: ['esm'],
  clean: true,
  // The file that a job manager's processes run is found beside the code that starts them.
  onSuccess: () => copyFile('../packages/worker/src/emqp/job-process.mjs', 'dist/job-process.mjs'),
  target: 'node20',
  // Built from the sources, so that profiles name their files; what is published is built from them for the same
  // target.
  esbuildOptions: (options) => {
    options.conditions = ['@proj/source'];
  },
  platform: 'node',
  // As for programs: bundled CommonJS packages (fastify) load Node's own modules through `require`.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  noExternal: [/^@proj\//, 'zod'],
  external: ['zeromq', 'lmdb', 'pg', 'amqplib', 'bullmq', 'ioredis', /^@nats-io\//],
});
