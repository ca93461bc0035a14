// The tests with other processes again, our side on @proj/zmtp. Tests without sockets, or with both kinds anyway, are not repeated.
import { mergeConfig } from 'vitest/config';
import { project } from '../vitest.shared.js';
import { ONCE } from './on-both.js';

/** The task `long` repeats only long ones, for `npm test` runs the others here. */
const FILES = process.env['PROJ_LONG'] === '1' ? '*.long.test.ts' : '*.test.ts';

export default mergeConfig(project('tests on zmtp', { isolate: false }), {
  test: {
    env: { PROJ_TRANSPORT: 'zmtp' },
    include: [`{attack,chaos,interop}/**/${FILES}`],
    exclude: [
      ...ONCE,
      'interop/zmtp/**',
      'interop/cli/**',
      'interop/dashboard/**',
      'interop/examples.test.ts',
      'interop/pzq/postgres*.test.ts',
      'chaos/{emqp,nfp}/full-disk.long.test.ts',
    ],
  },
});
