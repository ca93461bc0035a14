import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'zmq/index': 'src/zmq/index.ts',
    'virtual/index': 'src/virtual/index.ts',
    'compliance/index': 'src/compliance/index.ts',
    'adapter/index': 'src/adapter/index.ts',
    'curve/index': 'src/curve/index.ts',
    'service/index': 'src/service/index.ts',
    'engine/index': 'src/engine/index.ts',
    schemas: 'src/schemas.ts',
  },
  format: ['esm', 'cjs'],
  // Types are checked once, for the whole repository, by the task `types`; here siblings are what they publish.
  dts: { compilerOptions: { ignoreDeprecations: '6.0', noCheck: true, customConditions: [] } },
  sourcemap: true,
  clean: true,
  target: 'node20',
  platform: 'node',
  splitting: false,
});
