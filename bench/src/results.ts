/** Sets of results: what each section found, and when and where. They are measured alone or together, and kept together. */
import type { Machine } from './machine.js';
import type { Finding } from './statistics.js';

/** What has not been measured, and what it lacked. */
export interface LeftOut {
  readonly what: string;
  readonly missing: string;
}

/** What one section found. */
export interface Part {
  readonly machine: Machine;
  readonly findings: readonly Finding[];
  readonly leftOut: readonly LeftOut[];
  /** Files of its drawings, beside the results. */
  readonly drawings: readonly string[];
}

/** By section. */
export type Results = Readonly<Record<string, Part>>;

/** The same with another part, sections in `order`. What one of them found before is forgotten as a whole. */
export function merge(results: Results, name: string, part: Part, order: readonly string[]): Results {
  const all: Results = { ...results, [name]: part };
  return Object.fromEntries(order.flatMap((section) => (all[section] === undefined ? [] : [[section, all[section]]])));
}

/** Files that no section has drawn any more. */
export function staleDrawings(before: Results, after: Results): string[] {
  const drawn = new Set(Object.values(after).flatMap(({ drawings }) => drawings));
  return Object.values(before).flatMap(({ drawings }) => drawings.filter((file) => !drawn.has(file)));
}

/** Results in a file, as they are committed. */
export function encodeResults(results: Results): string {
  return `${JSON.stringify(results, undefined, 2)}\n`;
}

/** Figures are kept to five digits: what a machine repeats is less than that. */
export function rounded(finding: Finding): Finding {
  return { ...finding, measured: Number(finding.measured.toPrecision(5)) };
}
