/** A table as shown by `proj top` and `proj status`, whatever its source: rows, sorting and search. Pure. */
import { printable } from '@proj/appkit';
import { count, searchRows, sortRows } from '@proj/dashboard/shared';
import type { SortValue } from '@proj/dashboard/shared';

/** How to choose the rows of a table. */
export interface Choice {
  /** Index of the column, and whether the largest value comes first. */
  readonly column: number;
  readonly isDescending: boolean;
  /** Words that a row must contain, in upper or lower case. */
  readonly search: string;
}

/** A heading. */
export interface Heading {
  readonly heading: string;
  /** Right-aligned; the largest value comes first. */
  readonly isFigure: boolean;
}

/** The rows of a table. */
export interface Rows {
  readonly total: number;
  /** Cells of the rows from `first` up to, but not including, `end`. */
  readonly cells: (first: number, end: number) => string[][];
}

/** A table of the data of one moment. */
export interface LiveTable {
  readonly title: string;
  readonly columns: readonly Heading[];
  /** The initial choice. */
  readonly choice: Choice;
  readonly rows: (choice: Choice) => Rows;
}

/** A column, and how to get its cells from a row. */
export interface Column<Row> extends Heading {
  readonly value: (row: Row, now: number) => SortValue;
  /** Default: the value. */
  readonly cell?: (row: Row, now: number) => string;
}

/** How to make a table from data that changes. */
export interface TablePlan<Source, Row> {
  readonly title: string;
  readonly rowsOf: (source: Source) => readonly Row[];
  readonly nowOf: (source: Source) => number;
  /** The text to search in. */
  readonly textOf: (row: Row) => string;
  readonly keyOf: (row: Row) => string;
  /** Heading of the column by which the rows are sorted at first. */
  readonly sort: string;
  /** Default: largest figures first. */
  readonly isAscending?: boolean;
  readonly columns: readonly Column<Row>[];
}

/** Returns a function that makes the table of the current data. */
export function tableOf<Source, Row>(plan: TablePlan<Source, Row>): (source: Source) => LiveTable {
  const { title, rowsOf, nowOf, textOf, keyOf, sort, isAscending, columns } = plan;
  const column = columns.findIndex(({ heading }) => heading === sort);
  const isDescending = isAscending !== true && columns[column]?.isFigure === true;
  return (source) => ({
    title,
    columns,
    choice: { column, isDescending, search: '' },
    rows: (choice) => {
      const now = nowOf(source);
      const valueOf = columns[choice.column]?.value ?? keyOf;
      const found = searchRows(rowsOf(source), choice.search, textOf);
      const sorted = sortRows(found, (row) => valueOf(row, now), choice.isDescending, keyOf);
      return {
        total: sorted.length,
        cells: (first, end) =>
          sorted
            .slice(first, end)
            .map((row) => columns.map(({ value, cell }) => printable(cell?.(row, now) ?? String(value(row, now))))),
      };
    },
  });
}

/** A column of text. */
export function text<Row>(heading: string, value: (row: Row) => string): Column<Row> {
  return { heading, isFigure: false, value };
}

/** A column of numbers. */
export function figure<Row>(
  heading: string,
  value: (row: Row, now: number) => number,
  format: (value: number, row: Row) => string = count,
): Column<Row> {
  return { heading, isFigure: true, value, cell: (row, now) => format(value(row, now), row) };
}
