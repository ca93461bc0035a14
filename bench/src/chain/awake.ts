/** Keeps every core awake, so that the latency is that of the programs, without the time this machine takes to wake a core. */
import { cpus } from 'node:os';
import { findProgram, NativeProcess } from '../native-process.js';
import type { Missing } from './servers.js';

/** Ends with this process, however it ends. */
const SPIN = 'for (const parent = process.ppid; process.ppid === parent; );';

/** Starts one process per core that takes only idle time (`SCHED_IDLE`); call the returned function to end them. */
export async function keepAwake(): Promise<(() => Promise<unknown>) | Missing> {
  const chrt = await findProgram('chrt');
  if (chrt === undefined) return { missing: 'chrt (Debian package util-linux)' };
  const spinners = cpus().map(() => NativeProcess.start(chrt, ['-i', '0', process.execPath, '-e', SPIN]));
  return () => Promise.all(spinners.map((spinner) => spinner.stop()));
}
