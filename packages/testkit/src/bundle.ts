/** Bundles a package's sources as plain JavaScript for child processes, which cannot load TypeScript. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'tsup';

/** What to bundle. */
export interface BundlePlan {
  /** The package. The bundle is placed in its `node_modules`, so that its dependencies resolve. */
  readonly packageFolder: string;
  /** Each module's name and source, as a path in the package. Modules it imports are bundled with it. */
  readonly modules: Readonly<Record<string, string>>;
  /** Modules that are not bundled. */
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
      // Explicit, because a run from the root of the repository reads another package.json.
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
