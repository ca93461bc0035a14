/** The little arithmetic that benchmarks share. */

/** The middle value; the mean of the two middle ones for an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The value that this share of them does not exceed; `share` from 0 to 1. */
export function percentile(values: Float64Array, share: number): number {
  const sorted = values.toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Where a figure stands in a plot: a point of a curve, or without `x` a bar. */
export interface Place {
  /** The title of the plot. */
  readonly plot: string;
  /** The curve, or the bar. */
  readonly series: string;
  readonly x?: number;
}

/** A requirement of the project, a measured figure, and whether it is met. */
export interface Finding {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit?: { readonly atMost?: number; readonly atLeast?: number };
  readonly place?: Place;
}

/** True when the figure is within its limit, or has none. */
export function holds({ measured, limit }: Finding): boolean {
  return measured <= (limit?.atMost ?? Infinity) && measured >= (limit?.atLeast ?? -Infinity);
}

/** One line for a person. */
export function describe(finding: Finding): string {
  const { what, measured, unit, limit } = finding;
  const bound =
    limit?.atMost !== undefined
      ? `at most ${limit.atMost}`
      : limit?.atLeast !== undefined
        ? `at least ${limit.atLeast}`
        : '';
  const verdict = bound === '' ? '' : `  (${bound}: ${holds(finding) ? 'holds' : 'MISSED'})`;
  const figure = measured >= 1000 ? Math.round(measured).toLocaleString('en') : measured.toFixed(3);
  return `${what.padEnd(72)} ${figure.padStart(12)} ${unit}${verdict}`;
}
