/** Sources of a package as plain JavaScript, for child processes, which know nothing of TypeScript. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'tsup';

/** What is bundled. */
export interface BundlePlan {
  /** The package, in whose `node_modules` the bundle lies, so that its dependencies are found from there. */
  readonly packageFolder: string;
  /** Name of each module, and its source: a path from the package. Siblings become part of it. */
  readonly modules: Readonly<Record<string, string>>;
  /** What is loaded as it is. */
  readonly external: readonly string[];
}

/** A folder with `NAME.mjs` for each module. */
export class Bundle {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make({ packageFolder, modules, external }: BundlePlan): Promise<Bundle> {
    const folder = await mkdtemp(join(packageFolder, 'node_modules/.bundle-'));
    const paths = Object.entries(modules).map(([name, source]) => [name, join(packageFolder, source)]);
    await build({
      entry: Object.fromEntries(paths) as Record<string, string>,
      outDir: folder,
      outExtension: () => ({ js: '.mjs' }),
      format: 'esm',
      target: 'node20',
      noExternal: [/^@proj\//],
      // Named, since a run from the root of the repository reads another package.json.
      external: [...external],
      config: false,
      silent: true,
      esbuildOptions: (options) => {
        options.conditions = ['@proj/source'];
      },
    });
    return new Bundle(folder);
  }

  /** Writes a module beside them and returns its path. */
  async script(name: string, text: string): Promise<string> {
    const path = join(this.#folder, name);
    await writeFile(path, text);
    return path;
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
