/** A folder that keeps results: as JSON, as a page, and the drawings. Sections are replaced one by one. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageOf } from './page.js';
import { encodeResults, merge, staleDrawings } from './results.js';
import type { Part, Results } from './results.js';

/** The results in a folder. */
export class Archive {
  readonly #folder: string;
  #results: Results;

  private constructor(folder: string, results: Results) {
    this.#folder = folder;
    this.#results = results;
  }

  /** With what is there already; the folder is made where there is none. Throws when `results.json` cannot be read as JSON. */
  static async open(folder: string): Promise<Archive> {
    await mkdir(folder, { recursive: true });
    const file = join(folder, 'results.json');
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
      throw error;
    });
    return new Archive(folder, JSON.parse(text) as Results);
  }

  /** Puts a section's results in the place of those it had. */
  async keep(name: string, part: Part, drawings: ReadonlyMap<string, string>, order: readonly string[]): Promise<void> {
    const before = this.#results;
    this.#results = merge(before, name, part, order);
    for (const file of staleDrawings(before, this.#results)) await rm(join(this.#folder, file), { force: true });
    for (const [file, svg] of drawings) await writeFile(join(this.#folder, file), svg);
    await writeFile(join(this.#folder, 'results.json'), encodeResults(this.#results));
    await writeFile(join(this.#folder, 'README.md'), pageOf(this.#results));
  }
}
