import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { index: 'src/index.ts', http: 'src/http.ts', model: 'src/model.ts' },
  format: ['esm', 'cjs'],
  // Types are checked once, for the whole repository, by the task `types`; here siblings are what they publish.
  dts: { compilerOptions: { ignoreDeprecations: '6.0', noCheck: true, customConditions: [] } },
  sourcemap: true,
  clean: true,
  target: 'node20',
  platform: 'node',
  splitting: false,
});
