// The programs of this folder as plain JavaScript, because child processes do not run TypeScript. Packages are used as built.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const HERE = import.meta.dirname;
const PACKAGES = ['broker', 'client', 'frames', 'heartbeat', 'pzq', 'store', 'transport', 'worker', 'zmtp'];

/** A folder with `NAME.mjs` for each of these modules, in a place where packages can be resolved; the caller removes it. */
export async function bundle(names) {
  const folder = await mkdtemp(join(HERE, '../node_modules/.attack-'));
  await build({
    entryPoints: names.map((name) => join(HERE, `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: PACKAGES.flatMap((name) => [`@proj/${name}`, `@proj/${name}/*`]),
  });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
