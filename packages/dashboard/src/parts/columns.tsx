/** Columns as several tables have them. */
import { count } from '../shared/format.js';
import { To } from './bits.js';
import type { Column } from './table.js';

/** A column of numbers. */
export function figure<Row>(
  id: string,
  title: string,
  value: (row: Row) => number,
  { format = count, ...more }: Partial<Column<Row>> & { readonly format?: (value: number) => string } = {},
): Column<Row> {
  return { id, title, isFigure: true, value, cell: (row) => format(value(row)), ...more };
}

/** A column of links to views, each with the last word of its path. */
export function link<Row>(
  id: string,
  title: string,
  width: number,
  pathOf: (row: Row) => readonly string[],
): Column<Row> {
  const nameOf = (row: Row) => pathOf(row).at(-1) ?? '';
  return { id, title, width, value: nameOf, cell: (row) => <To path={pathOf(row)}>{nameOf(row)}</To> };
}
