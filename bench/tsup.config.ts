import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    main: 'src/main.ts',
    load: 'src/load.ts',
    'chain-process': 'src/chain/process.ts',
    'bare-mdp': 'src/bare-mdp.ts',
    'bare-nfp': 'src/bare-nfp.ts',
    'bare-ppp': 'src/bare-ppp.ts',
    'mdp-broker': 'src/mdp-broker.ts',
    'mdp-broker-zmtp': 'src/mdp-broker-zmtp.ts',
    'nfp-broker': 'src/nfp-broker.ts',
    'ppp-queue': 'src/ppp-queue.ts',
    'pzq-queue': 'src/pzq-queue.ts',
  },
  format: ['esm'],
  clean: true,
  target: 'node20',
  platform: 'node',
  noExternal: [/^@proj\//, 'zod'],
  external: ['zeromq', 'lmdb', 'pg', /^@nats-io\//],
});
