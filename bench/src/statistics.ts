/** Simple statistics that the benchmarks share. */

/** The middle value; the mean of the two middle ones for an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Values grouped by key, in the order in which they come. */
export function groupBy<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

/** Times of requests in microseconds: the 50th, 99th and 99.9th percentile. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Summarizes times. Sorts them in place. */
export function latencyOf(micros: Float64Array): Latency {
  micros.sort();
  const at = (share: number): number =>
    micros[Math.min(micros.length - 1, Math.floor(share * micros.length))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

/** A point of a curve in a plot. */
export interface Place {
  /** The title of the plot. */
  readonly plot: string;
  /** The curve. */
  readonly series: string;
  readonly x: number;
}

/** The position of a figure in a table. */
export interface Cell {
  /** The title of the table. */
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

/** A measured figure, where it is shown, and the project's limit for it. */
export interface Finding {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit?: { readonly atMost?: number; readonly atLeast?: number };
  readonly place?: Place;
  readonly cell?: Cell;
}

/** Receives findings. */
export type Report = (finding: Finding) => void;
/** Receives what could not be measured here, and what is missing, in words. */
export type Skip = (what: string, missing: string) => void;

/** True if the figure is within its limit, or has none. */
export function holds({ measured, limit }: Finding): boolean {
  return measured <= (limit?.atMost ?? Infinity) && measured >= (limit?.atLeast ?? -Infinity);
}

/** The limit in words; empty if there is none. */
export function describeLimit({ limit }: Finding): string {
  if (limit?.atMost !== undefined) return `at most ${limit.atMost.toLocaleString('en')}`;
  return limit?.atLeast === undefined ? '' : `at least ${limit.atLeast.toLocaleString('en')}`;
}

/** A figure as it is printed. */
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(3);
}

/** One line of text. */
export function describe(finding: Finding): string {
  const limit = describeLimit(finding);
  const verdict = limit === '' ? '' : `  (${limit}: ${holds(finding) ? 'holds' : 'MISSED'})`;
  return `${finding.what.padEnd(72)} ${figure(finding.measured).padStart(12)} ${finding.unit}${verdict}`;
}
