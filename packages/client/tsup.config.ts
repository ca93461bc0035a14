import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'emqp/index': 'src/emqp/index.ts',
    'mdp/index': 'src/mdp/index.ts',
    'nfp/index': 'src/nfp/index.ts',
    'ppp/index': 'src/ppp/index.ts',
    'pzq/index': 'src/pzq/index.ts',
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
});
