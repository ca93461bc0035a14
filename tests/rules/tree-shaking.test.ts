/** Importing one client bundles only that client: no code runs when a module is loaded, so bundlers may omit the others. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { PROTOCOLS } from '../protocols.js';
import { ROOT } from './workspace.js';

/** Folders of packages/client whose code is in a bundle that needs only `name`. */
async function foldersOf(name: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: `export { ${name} } from '@proj/client';`, resolveDir: join(ROOT, 'tests') },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@proj/source'],
    logLevel: 'silent',
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const folders = used.flatMap(([path]) => /packages\/client\/src\/(\w+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

it.each(Object.entries(PROTOCOLS).map(([name, { client }]) => [client, [name, 'shared']] as const))(
  'with %s the root of @proj/client brings only its own protocol',
  async (name, folders) => {
    expect(await foldersOf(name)).toEqual(folders);
  },
);
