// The tests with other processes again, our side on @proj/zmtp. Tests without sockets, or with both kinds anyway, are not repeated.
import { mergeConfig } from 'vitest/config';
import { project } from '../vitest.shared.js';

export default mergeConfig(project('tests on zmtp', { isolate: false }), {
  test: {
    env: { PROJ_TRANSPORT: 'zmtp' },
    include: ['{attack,chaos,interop}/**/*.test.ts'],
    exclude: [
      'attack/judge.test.ts',
      'interop/zmtp/**',
      'interop/cli/**',
      'interop/dashboard/**',
      'interop/examples.test.ts',
      'interop/pzq/postgres*.test.ts',
      'chaos/pzq/{folder,full-disk}.test.ts',
      'chaos/{emqp,nfp}/full-disk.long.test.ts',
    ],
  },
});
