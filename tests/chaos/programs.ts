/** What the chaos tests start: the built programs, and small scripts that stand in for a user's programs. */
import { fileURLToPath } from 'node:url';
import type { PeerSpec } from '@proj/testkit';
import { TRANSPORT } from '../transport.js';

/** Flags of a program. */
export type Flags = Readonly<Record<string, string | number>>;

/** A built program of `apps/`; it logs JSON lines to standard output. */
export function program(app: 'broker' | 'queue' | 'scheduler' | 'worker', flags: Flags): PeerSpec {
  return {
    name: `proj-${app}`,
    command: process.execPath,
    args: [
      pathOf(`../../apps/${app}/dist/main.js`),
      '--transport',
      TRANSPORT,
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value.toString()]),
    ],
  };
}

/** A script of the tests, run by Node with these options and its own arguments. */
export function script(path: string, nodeOptions: readonly string[] = [], args: readonly string[] = []): PeerSpec {
  return { name: path, command: process.execPath, args: [...nodeOptions, pathOf(path), ...args] };
}

/** Absolute path of a file beside the chaos tests. */
export function pathOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
