/** Findings as Markdown tables, which are also readable on a terminal. */
import { figure } from './statistics.js';
import type { Finding } from './statistics.js';

/** A table of findings. */
export interface Table {
  readonly title: string;
  /** Names with their units. */
  readonly columns: readonly string[];
  /** The name of the row, then a figure for each column, empty if there is none. */
  readonly rows: readonly (readonly string[])[];
}

/** The tables that findings name, rows and columns in the order in which they first appear. */
export function tablesOf(findings: readonly Finding[]): Table[] {
  const byTitle = new Map<string, { readonly columns: Set<string>; readonly rows: Map<string, Map<string, string>> }>();
  for (const { cell, measured, unit } of findings) {
    if (cell === undefined) continue;
    const table = byTitle.get(cell.table) ?? { columns: new Set(), rows: new Map<string, Map<string, string>>() };
    const column = `${cell.column}, ${unit}`;
    byTitle.set(cell.table, table);
    table.columns.add(column);
    table.rows.set(cell.row, (table.rows.get(cell.row) ?? new Map<string, string>()).set(column, figure(measured)));
  }
  return Array.from(byTitle, ([title, { columns, rows }]) => ({
    title,
    columns: [...columns],
    rows: Array.from(rows, ([row, cells]) => [row, ...[...columns].map((column) => cells.get(column) ?? '')]),
  }));
}

/** The first column left-aligned, figures right-aligned, every cell as wide as its column. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((_, at) => Math.max(3, ...[columns, ...rows].map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, at) => (at === 0 ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}
