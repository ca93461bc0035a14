/** Rows of text for people. */

/** A column of a table: its heading and the cell of a row. Columns of numbers are right-aligned. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string | number;
}

/** The rows as lines of aligned columns below their headings. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const right = columns.map(({ cell }) => rows.length > 0 && rows.every((row) => isNumeric(cell(row))));
  const cells = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map(({ cell }) => String(cell(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const pad = (text: string, index: number) =>
    right[index] === true ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
  return cells.map((line) => line.map(pad).join('  ').trimEnd());
}

function isNumeric(cell: string | number): boolean {
  return typeof cell === 'number' || /^\d+(\.\d+)?$/.test(cell);
}
