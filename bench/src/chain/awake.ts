/** Keeps every core awake: what is left of a latency then is the programs', without what this machine takes to wake a core. */
import { cpus } from 'node:os';
import { findProgram, NativeProcess } from '../native-process.js';
import type { Missing } from './servers.js';

/** It ends with us, however we end. */
const SPIN = 'for (const parent = process.ppid; process.ppid === parent; );';

/** Starts a process per core that takes only what nobody else wants (`SCHED_IDLE`); the answer ends them. */
export async function keepAwake(): Promise<(() => Promise<unknown>) | Missing> {
  const chrt = await findProgram('chrt');
  if (chrt === undefined) return { missing: 'chrt (Debian package util-linux)' };
  const spinners = cpus().map(() => NativeProcess.start(chrt, ['-i', '0', process.execPath, '-e', SPIN]));
  return () => Promise.all(spinners.map((spinner) => spinner.stop()));
}
