/** What was measured of an attack, and whether that is what may be. */

/** One attack on one transport. Bytes and milliseconds; `NaN` is what could not be measured any more. */
export interface Result {
  readonly attack: string;
  readonly transport: 'zmtp' | 'zmq';
  /** What the program was given as `--memory-max`, if anything. */
  readonly memoryMax?: number;
  /** Of the attack itself. */
  readonly seconds: number;
  /** Resident memory: of the program alone, served by none; when others had been served for a while; the most; some time after. */
  readonly rss: { readonly idle: number; readonly before: number; readonly peak: number; readonly after: number };
  /** Of what others waited: 99 of 100 in the quiet, and under attack. */
  readonly quietP99Ms: number;
  readonly p99Ms: number;
  /** Of what the same people waited meanwhile for a bare echo: what the machine has for everybody. */
  readonly machineP99Ms: number;
  /** The longest that anybody waited, under attack and after it. */
  readonly maxMs: number;
  readonly asked: number;
  readonly lost: number;
  readonly why: readonly string[];
  /** Other promises that were broken. */
  readonly facts: readonly string[];
  /** Lines that the program logged during the attack. */
  readonly logLines: number;
  /** Exit code or signal, and how long after SIGTERM; before it, if the program did not live so long. */
  readonly exit: number | string | null;
  readonly exitMs: number;
}

/** Bounds, in the words of the table. */
export interface Bounds {
  /** As the program has it, if it has one. */
  readonly memoryMax?: number | undefined;
}

/** A bound of memory holds up to this share, beside the idle program. */
const MEMORY_RATIO = 1.3;
const AFTER_RATIO = 1.5;
const P99_RATIO = 3;
const P99_MS = 20;
const EXIT_MS = 3000;
/** Of all kinds together. */
const LINES_PER_SECOND = 100;
/** What may come in one burst, and lines that are not of the attack: others that come and go. */
const LINES_BESIDE = 200;

/** The bounds that were missed, as words; none if all hold. */
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

/** What others waited is over 3 times the quiet figure and 20 ms, but a bare echo was slow, too: the bound is neither held nor missed. */
export function isUnproven({ quietP99Ms, p99Ms, machineP99Ms }: Result): boolean {
  const most = P99_RATIO * quietP99Ms + P99_MS;
  return p99Ms > most && p99Ms <= P99_RATIO * machineP99Ms + P99_MS;
}

/** True when memory is back where it was. */
export function isGivenBack(before: number, now: number): boolean {
  return now <= AFTER_RATIO * before;
}
