/**
 * Sets of results: what each section found, and when and where. Sections are measured alone or together, and kept together.
 */
import type { Machine } from './machine.js';
import type { Finding } from './statistics.js';

/** What was not measured, and what was missing. */
export interface LeftOut {
  readonly what: string;
  readonly missing: string;
}

/** The findings of one section. */
export interface Part {
  readonly machine: Machine;
  readonly findings: readonly Finding[];
  readonly leftOut: readonly LeftOut[];
  /** Names of its drawings, beside the results. */
  readonly drawings: readonly string[];
}

/** By section. */
export type Results = Readonly<Record<string, Part>>;

/** The same set with one section replaced as a whole, sections in `order`. */
export function merge(results: Results, name: string, part: Part, order: readonly string[]): Results {
  const all: Results = { ...results, [name]: part };
  return Object.fromEntries(order.flatMap((section) => (all[section] === undefined ? [] : [[section, all[section]]])));
}

/** Files that no section draws any more. */
export function staleDrawings(before: Results, after: Results): string[] {
  const drawn = new Set(Object.values(after).flatMap(({ drawings }) => drawings));
  return Object.values(before).flatMap(({ drawings }) => drawings.filter((file) => !drawn.has(file)));
}

/** The text of the committed results file. */
export function encodeResults(results: Results): string {
  return `${JSON.stringify(results, undefined, 2)}\n`;
}

/** Figures are rounded to five digits, which is more than a machine can repeat. */
export function rounded(finding: Finding): Finding {
  return { ...finding, measured: Number(finding.measured.toPrecision(5)) };
}
