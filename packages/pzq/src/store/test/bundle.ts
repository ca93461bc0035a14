/** The stores as plain JavaScript for child processes, which know nothing of TypeScript. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));

/** A folder with `lmdb.mjs` and `killed.mjs`, inside the package so that the databases are found from there. */
export class Bundle {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<Bundle> {
    const folder = await mkdtemp(join(PACKAGE, 'node_modules/.stores-'));
    await build({
      entry: {
        lmdb: join(PACKAGE, 'src/store/lmdb.ts'),
        killed: join(PACKAGE, 'src/store/compliance/killed.ts'),
      },
      outDir: folder,
      outExtension: () => ({ js: '.mjs' }),
      format: 'esm',
      target: 'node20',
      noExternal: [/^@proj\//],
      // Named, since a run from the root of the repository reads another package.json.
      external: ['lmdb'],
      config: false,
      silent: true,
      esbuildOptions: (options) => {
        options.conditions = ['@proj/source'];
      },
    });
    return new Bundle(folder);
  }

  /** Writes a module beside the stores and returns its path. */
  async script(name: string, text: string): Promise<string> {
    const path = join(this.#folder, name);
    await writeFile(path, text);
    return path;
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
