/** The input of the demonstration: the text files of this repository. */
import { execFile } from 'node:child_process';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A file to send. */
export interface SourceFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly bytes: number;
}

/** How many bytes to check to tell text from binary, the same as git. */
const SNIFFED_BYTES = 8000;
const NOT_SOURCES = new Set(['node_modules', 'dist', 'coverage']);

/**
 * The text files of `folder`, sorted by path: those that git tracks, or all files below it without git or a repository.
 * A file with a zero byte near its beginning is not text. Empty files are text.
 */
export async function listTextFiles(folder: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const path of (await listTracked(folder)) ?? (await walk(folder, ''))) {
    const entry = await stat(join(folder, path)).catch(() => undefined);
    // Deleted but still tracked, or a submodule.
    if (entry?.isFile() !== true) continue;
    if (await isText(join(folder, path))) files.push({ path, bytes: entry.size });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function listTracked(folder: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: folder, maxBuffer: 2 ** 28 });
    const paths = stdout.split('\0').filter((path) => path !== '');
    return paths.length > 0 ? paths : undefined;
  } catch {
    return undefined;
  }
}

async function walk(folder: string, below: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isFile()) paths.push(path);
    else if (entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SOURCES.has(entry.name))
      paths.push(...(await walk(folder, path)));
  }
  return paths;
}

async function isText(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(SNIFFED_BYTES) });
    return !buffer.subarray(0, bytesRead).includes(0);
  } finally {
    await file.close();
  }
}
