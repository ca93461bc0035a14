/** One process or thread of an EventMQ job manager, seen from outside; `job-process.mjs` runs inside. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { EmqpRun, EmqpRunOutcome } from './engine/events.js';

/** What jobs run in. */
export type JobHostKind = 'processes' | 'threads';

/** The sources of jobs: absolute paths. */
export interface JobSources {
  /** A module whose default export holds functions by `path.callable`. */
  readonly handlers: string | undefined;
  /** A folder whose modules may be run. */
  readonly directory: string | undefined;
  /** Largest result, in bytes. The host may replace a larger one with the reason. */
  readonly resultMaxBytes: number;
}

/** What a job host sends: `ready` or `broken` once, then how each run ended. `json` is `{"value": x}`; it may be empty if no result is wanted. */
export type FromJobHost =
  | { readonly ready: true }
  | { readonly broken: string }
  | { readonly number: number; readonly outcome: EmqpRunOutcome; readonly json: string };

/** What it receives: `start` first, then runs one at a time; after `stop` it exits. */
export type ToJobHost =
  | { readonly start: JobSources }
  | { readonly run: EmqpRun; readonly wantsResult: boolean }
  | { readonly stop: true };

/** Its owner's callbacks. `onExit` comes once and last, when it no longer exists. */
export interface JobHostListener {
  onMessage(message: FromJobHost): void;
  onExit(reason: string): void;
}

/** A process or thread that runs jobs. Its methods do not throw. */
export interface JobHost {
  /** The id of the process, or of the thread. */
  readonly id: number | undefined;
  post(message: ToJobHost): void;
  /** Kills it, together with all processes it has started. */
  kill(): void;
}

/** Wraps our messages: jobs may send messages of their own on the same channel, which are ignored. */
interface Envelope {
  readonly [ENVELOPE]: FromJobHost;
}

/** The same as in `job-process.mjs`. */
const ENVELOPE = '@proj/worker';

const PROGRAM = new URL('./job-process.mjs', import.meta.url);

const nothing = (): void => undefined;

/** Starts a host for the jobs of one slot, which it runs one after the other. Returns at once. */
export type StartJobHost = (listener: JobHostListener) => JobHost;

/** Starts hosts of this kind. */
export function jobHosts(kind: JobHostKind): StartJobHost {
  return kind === 'processes' ? startProcess : startThread;
}

function startProcess(listener: JobHostListener): JobHost {
  const child = fork(fileURLToPath(PROGRAM), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // In its own process group, so that everything a job has started is killed with it, and Ctrl-C reaches only the job manager.
    detached: true,
  });
  let isOver = false;
  const exit = (reason: string): void => {
    if (!isOver) listener.onExit(reason);
    isOver = true;
  };
  child.on('message', (message: unknown) => {
    if (isOurs(message)) listener.onMessage(message[ENVELOPE]);
  });
  child.on('exit', (code, signal) => {
    killGroup(child.pid);
    exit(signal === null ? `the process ended with code ${code}` : `the process was ended by ${signal}`);
  });
  child.on('error', (error) => {
    if (child.pid === undefined) exit(`cannot start a process: ${error.message}`);
  });
  return {
    id: child.pid,
    post: (message) => {
      // If the channel is closed, the exit of the process is about to be reported.
      if (child.connected) child.send(message, nothing);
    },
    kill: () => {
      killGroup(child.pid);
      child.kill('SIGKILL');
    },
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No such group: it is already gone, or the platform has none.
  }
}

function startThread(listener: JobHostListener): JobHost {
  const worker = new Worker(PROGRAM);
  let reason: string | undefined;
  worker.on('message', (message: unknown) => {
    if (isOurs(message)) listener.onMessage(message[ENVELOPE]);
  });
  worker.on('error', (error) => {
    reason = `the thread ended: ${error instanceof Error ? error.message : String(error)}`;
  });
  worker.on('exit', (code) => {
    listener.onExit(reason ?? `the thread ended with code ${code}`);
  });
  return {
    id: worker.threadId,
    post: (message) => {
      worker.postMessage(message);
    },
    kill: () => {
      void worker.terminate();
    },
  };
}

function isOurs(message: unknown): message is Envelope {
  return typeof message === 'object' && message !== null && ENVELOPE in message;
}
