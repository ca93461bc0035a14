/** What the tests of every package have in common. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineProject } from 'vitest/config';
import type { UserWorkspaceConfig } from 'vitest/config';

/** `npm test` says PROJ_LONG=0; its long tests are a task of `npm run test:all`. */
const LONG = process.env['PROJ_LONG'] === '0' ? ['**/*.long.test.ts'] : [];

/** Without the package zeromq, or with PROJ_LIBZMQ=0, everything runs on ZMTP in TypeScript, and tests that are about libzmq are left out. */
const HAS_LIBZMQ = process.env['PROJ_LIBZMQ'] !== '0' && isInstalled('zeromq');
const OF_LIBZMQ = ['**/*.zmq.test.ts', '**/src/zmq/**', '**/src/interop.test.ts'];

function isInstalled(name: string): boolean {
  try {
    createRequire(new URL('packages/transport/', import.meta.url)).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * With PROJ_BUILT=1 siblings are loaded as they are built, by Node.js itself: loading takes a quarter of the time, and long computations less, too.
 * A stand-in for zeromq reaches only sources.
 */
const BUILT = process.env['PROJ_BUILT'] === '1' && HAS_LIBZMQ;

/** Longer than any test takes on a busy machine of half the usual speed. */
const PATIENCE_MS = 600_000;

/**
 * The configuration of a package's tests. `name` is how a run calls the package. With `isolate: false` test files share
 * processes and what these have loaded, at half the time: for files that leave nothing behind. `libzmq` names test files
 * whose peers are sockets of libzmq.
 */
export function project(name: string, { isolate = true, libzmq = [] as readonly string[] } = {}): UserWorkspaceConfig {
  return defineProject({
    // Siblings resolve to their sources, or to what is built of them. The list replaces the defaults, so those stand here too, but `module`: Node.js has no such condition, and some packages name files under it that only bundlers can load.
    ssr: { resolve: { conditions: [...(BUILT ? [] : ['@proj/source']), 'node', 'development|production'] } },
    // Test files that are partly about libzmq must load.
    resolve: HAS_LIBZMQ
      ? {}
      : { alias: { zeromq: fileURLToPath(new URL('packages/testkit/src/no-libzmq.ts', import.meta.url)) } },
    test: {
      name,
      env: { PROJ_LIBZMQ: HAS_LIBZMQ ? '1' : '0' },
      environment: 'node',
      ...(BUILT ? { server: { deps: { external: [/\/packages\/[a-z]+\/dist\//] } } } : {}),
      exclude: [...configDefaults.exclude, ...LONG, ...(HAS_LIBZMQ ? [] : [...OF_LIBZMQ, ...libzmq])],
      setupFiles: [fileURLToPath(new URL('./vitest.setup.ts', import.meta.url))],
      // A socket that is still receiving would abort a run in threads.
      pool: 'forks',
      isolate,
      // Tests count; how long that takes on a busy machine is not their subject. These only end what hangs.
      testTimeout: PATIENCE_MS,
      hookTimeout: PATIENCE_MS,
      expect: { poll: { timeout: PATIENCE_MS } },
    },
  });
}
