/** What the tests of every package have in common. */
import { fileURLToPath } from 'node:url';
import { configDefaults, defineProject } from 'vitest/config';
import type { UserWorkspaceConfig } from 'vitest/config';

/** `npm test` says PROJ_LONG=0; its long tests are a task of `npm run test:all`. */
const LEFT_OUT = process.env['PROJ_LONG'] === '0' ? ['**/*.long.test.ts'] : [];

/**
 * The configuration of a package's tests. `name` is how a run calls the package. With `isolate: false` test files share
 * processes and what these have loaded, at half the time: for files that leave nothing behind.
 */
export function project(name: string, { isolate = true } = {}): UserWorkspaceConfig {
  return defineProject({
    // Siblings resolve to their sources. The list replaces the defaults, so those stand here too, but `module`: Node.js has no such condition, and some packages name files under it that only bundlers can load.
    ssr: { resolve: { conditions: ['@proj/source', 'node', 'development|production'] } },
    test: {
      name,
      environment: 'node',
      exclude: [...configDefaults.exclude, ...LEFT_OUT],
      setupFiles: [fileURLToPath(new URL('./vitest.setup.ts', import.meta.url))],
      // A socket that is still receiving would abort a run in threads.
      pool: 'forks',
      isolate,
      // Tests count; how long that takes on a busy machine is not their subject. These only end what hangs.
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  });
}
