import { copyFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'emqp/index': 'src/emqp/index.ts',
    'mdp/index': 'src/mdp/index.ts',
    'nfp/index': 'src/nfp/index.ts',
    'ppp/index': 'src/ppp/index.ts',
  },
  format: ['esm', 'cjs'],
  // Types are checked once, for the whole repository, by the task `types`; here siblings are what they publish.
  dts: { compilerOptions: { ignoreDeprecations: '6.0', noCheck: true, customConditions: [] } },
  sourcemap: true,
  clean: true,
  target: 'node20',
  platform: 'node',
  // One class, whatever entry it is imported from; and bundlers leave out the protocols that nobody uses.
  splitting: true,
  // The program of a job manager's processes is found beside the code that starts them, in either format.
  shims: true,
  onSuccess: () => copyFile('src/emqp/job-process.mjs', 'dist/job-process.mjs'),
});
