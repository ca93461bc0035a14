/** A disk that fills up soon: a small file system in memory, if the tests may mount one. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SMALL = 32 * 2 ** 20;
const LARGE = 128 * 2 ** 20;

/** A folder with little room; disposing of it unmounts it, even if it is in use. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  /** Adds room. */
  grow(): Promise<void>;
  /** Makes it read-only; no file may be open for writing. */
  seal(): Promise<void>;
}

/** Creates one; `undefined` if that is not allowed, as for users other than root. */
export function smallDisk(): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'pzq-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL}`, 'pzq-test', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  return {
    folder,
    grow: async () => {
      await promisify(execFile)('mount', ['-o', `remount,size=${LARGE}`, folder]);
    },
    seal: async () => {
      await promisify(execFile)('mount', ['-o', 'remount,ro', folder]);
    },
    async [Symbol.asyncDispose]() {
      await promisify(execFile)('umount', ['-l', folder]);
      rmdirSync(folder);
    },
  };
}
