/** The machine on which a set of results was measured. */
import { execFile } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { promisify } from 'node:util';

/** Its state when the run began. */
export interface Machine {
  readonly date: string;
  /** Commit of the working tree, `unknown` outside one. */
  readonly commit: string;
  readonly node: string;
  readonly system: string;
  readonly cpus: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  /** Processes that wanted a core in the last minute: with more than a few, compare only ratios. */
  readonly load: number;
}

/** Describes this machine. */
export async function machine(): Promise<Machine> {
  const commit = await promisify(execFile)('git', ['rev-parse', '--short', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    () => 'unknown',
  );
  return {
    date: new Date().toISOString(),
    commit,
    node: process.version,
    system: `${process.platform} ${release()}`,
    cpus: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: loadavg()[0] ?? Number.NaN,
  };
}
