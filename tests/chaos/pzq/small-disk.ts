/** A disk that is soon full: a small file system in memory, where the tests have the right to mount one. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SMALL = 32 * 2 ** 20;
const LARGE = 128 * 2 ** 20;

/** A folder with little room; disposing of it takes it away, whoever still uses it. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  /** Gives more. */
  grow(): Promise<void>;
  /** Takes no more writes; nobody may have a file open to write. */
  seal(): Promise<void>;
}

/** Makes one; `undefined` where it is not allowed, as to others than root. */
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
