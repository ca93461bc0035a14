/** The measurements of an attack, and whether they are within bounds. */
import type { Memory } from './cast.js';

/** One attack on one transport. Bytes and milliseconds; `NaN` is what could no longer be measured. */
export interface Result {
  readonly attack: string;
  readonly transport: 'zmtp' | 'zmq';
  /** The program's `--memory-max`, if set. */
  readonly memoryMax?: number;
  /** Duration of the attack. */
  readonly seconds: number;
  /**
   * Resident memory: of the program before it served anyone, after serving clients for a while, at its peak, and what was kept of it
   * some time after the attack, see {@link kept}.
   */
  readonly rss: { readonly idle: number; readonly before: number; readonly peak: number; readonly after: number };
  /** Response times of others: the 99th percentile, in the quiet and under attack. */
  readonly quietP99Ms: number;
  readonly p99Ms: number;
  /** The same clients' response times for a bare echo meanwhile: the state of the machine. */
  readonly machineP99Ms: number;
  /** The longest response time, under attack and after it. */
  readonly maxMs: number;
  readonly asked: number;
  readonly lost: number;
  readonly why: readonly string[];
  /** Other broken promises. */
  readonly facts: readonly string[];
  /** Lines that the program logged during the attack. */
  readonly logLines: number;
  /** Exit code or signal, and how long after SIGTERM; or before it, if the program ended early. */
  readonly exit: number | string | null;
  readonly exitMs: number;
}

/** Bounds, in the words of the table. */
export interface Bounds {
  /** As set for the program, if set. */
  readonly memoryMax?: number | undefined;
}

/** Memory may reach this share of its bound, plus the idle program. */
const MEMORY_RATIO = 1.3;
const AFTER_RATIO = 1.5;
const P99_RATIO = 3;
const P99_MS = 20;
const EXIT_MS = 3000;
/** All kinds together. */
const LINES_PER_SECOND = 100;
/** An allowance for one burst, and for log lines not caused by the attack: other peers that come and go. */
const LINES_BESIDE = 200;

/** The missed bounds in words; none if all hold. */
export function missed(result: Result, bounds: Bounds = {}): string[] {
  const memoryMax = result.memoryMax ?? bounds.memoryMax ?? Infinity;
  const { rss, quietP99Ms, p99Ms, machineP99Ms, lost, facts, logLines, seconds, exit, exitMs } = result;
  const checks: readonly (readonly [string, boolean])[] = [
    ['lost', lost === 0],
    ['p99', p99Ms <= P99_RATIO * Math.max(quietP99Ms, machineP99Ms) + P99_MS],
    ['peak', rss.peak <= MEMORY_RATIO * memoryMax + rss.idle],
    ['after', rss.after <= AFTER_RATIO * rss.before],
    ['log', logLines <= LINES_PER_SECOND * seconds + LINES_BESIDE],
    ['exit', exit === 0 && exitMs <= EXIT_MS],
  ];
  return [...checks.filter(([, holds]) => !holds).map(([name]) => name), ...facts];
}

/** Response times exceed 3 times the quiet figure and 20 ms, but a bare echo was slow, too: the bound is neither held nor missed. */
export function isUnproven({ quietP99Ms, p99Ms, machineP99Ms }: Result): boolean {
  const most = P99_RATIO * quietP99Ms + P99_MS;
  return p99Ms > most && p99Ms <= P99_RATIO * machineP99Ms + P99_MS;
}

/**
 * Resident memory without the pages of files that came since: those of the store's file, for example. They are a copy of what is on
 * disk, which the system takes away when it needs room.
 */
export function kept(before: Memory, now: Memory): number {
  return now.now - Math.max(0, now.ofFiles - before.ofFiles);
}

/** True if memory is back to its earlier size. */
export function isGivenBack(before: number, now: number): boolean {
  return now <= AFTER_RATIO * before;
}
