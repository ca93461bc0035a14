/** A folder with results: as JSON, as a page, and as drawings. Sections are replaced one by one. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageOf } from './page.js';
import { encodeResults, merge, staleDrawings } from './results.js';
import type { Part, Results } from './results.js';

/** The results in a folder. */
export class Archive {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder is created if missing. Throws if it holds results that cannot be read. */
  static async open(folder: string): Promise<Archive> {
    await mkdir(folder, { recursive: true });
    const archive = new Archive(folder);
    await archive.#read();
    return archive;
  }

  /** Replaces the results of one section. Other sections stay, even if another process has measured them since. */
  async keep(name: string, part: Part, drawings: ReadonlyMap<string, string>, order: readonly string[]): Promise<void> {
    const before = await this.#read();
    const after = merge(before, name, part, order);
    for (const file of staleDrawings(before, after)) await rm(join(this.#folder, file), { force: true });
    for (const [file, svg] of drawings) await writeFile(join(this.#folder, file), svg);
    await writeFile(join(this.#folder, 'results.json'), encodeResults(after));
    await writeFile(join(this.#folder, 'README.md'), pageOf(after));
  }

  async #read(): Promise<Results> {
    const text = await readFile(join(this.#folder, 'results.json'), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
      throw error;
    });
    return JSON.parse(text) as Results;
  }
}
