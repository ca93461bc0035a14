/** What an NFP worker session is made of: settings, what it cannot know by itself, and the numbers it shows. */
import type { NfpCommandForm } from '@proj/frames/nfp';
import type { NfpStoredJob } from './job.js';

/** Settings of an `NfpWorkerSession`; options.ts of this folder has the defaults. Times in milliseconds. */
export interface NfpWorkerSessionOptions {
  readonly endpoints: readonly string[];
  readonly service: string;
  readonly name: string;
  readonly concurrency: number;
  readonly maxPendingJobs: number;
  /** 0 for ever. */
  readonly resultTtlMs: number;
  readonly resultsMax: number;
  readonly crashPolicy: 'rerun' | 'fail';
  readonly maxRuns: number;
  readonly commandForm: NfpCommandForm;
  readonly dialect: 'current' | 'legacy';
  readonly sendOpen: boolean;
  readonly keepaliveIntervalMs: number;
  readonly keepaliveMultiplier: number;
  readonly managementCommands: boolean;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly minUptimeMs: number;
  readonly drainMs: number;
  readonly maxMessageBytes: number;
  /** Shown by `show_workers`. */
  readonly taskList: readonly { readonly name: string; readonly description: string }[];
}

/** What a session cannot know by itself. */
export interface NfpWorkerWorld {
  /** In [0, 1). */
  random(): number;
  /** Wall clock, in microseconds since 1970. */
  wallMicros(): number;
  /** A short text that differs for different texts, such as a cryptographic hash. */
  digest(text: string): string;
}

/** Sizes now and totals so far. */
export interface NfpWorkerCounters {
  /** Jobs by state. Those that are about to be accepted count as pending. */
  readonly jobs: Readonly<Record<NfpStoredJob['state'], number>>;
  /** Tasks that run now. */
  readonly running: number;
}
