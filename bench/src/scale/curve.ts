/** Cost by size of the work. */
import { median } from '../statistics.js';
import type { Finding } from '../statistics.js';

/** Costs at one size, round by round. */
export interface Point {
  readonly size: number;
  readonly costs: readonly number[];
}

/** What a curve shows. */
export interface Curve {
  /** What is measured, such as `MDP engine`. */
  readonly what: string;
  /** What grows, such as `workers`. */
  readonly of: string;
  readonly unit: string;
  /** Limit for the cost at the largest size over that at the smallest. */
  readonly atMost?: number;
}

/**
 * Reports the cost at each size, and its ratio to the smallest size, by rounds, so that both ran under the same
 * conditions.
 */
export function reportCurve(curve: Curve, points: readonly Point[], report: (finding: Finding) => void): void {
  const { what, of, unit, atMost } = curve;
  const [first, last] = [points[0], points.at(-1)];
  for (const point of points) {
    const { size, costs } = point;
    const name = `${what}, ${size.toLocaleString('en')} ${of}`;
    const place = { plot: `scale: cost over that of the first, by ${of}`, series: what, x: size };
    report({ what: name, measured: median(costs), unit });
    const growth = median(costs.map((cost, round) => cost / (first?.costs[round] ?? Number.NaN)));
    if (point === first) {
      report({ what: `${name}: over itself`, measured: growth, unit: 'x', place });
      continue;
    }
    const limit = point === last && atMost !== undefined ? { limit: { atMost } } : {};
    report({ what: `${name}: over ${first?.size.toLocaleString('en')}`, measured: growth, unit: 'x', place, ...limit });
  }
}
