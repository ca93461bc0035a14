/** Search and sort of tables. */

/** How a table is sorted: a column, and the direction. */
export interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

/** The value by which a column sorts. */
export type SortValue = string | number;

/** Parses `-rate` or `name`; falls back for anything else. */
export function parseSort(text: string | undefined, columns: readonly string[], fallback: Sort): Sort {
  const descending = text?.startsWith('-') ?? false;
  const column = descending ? text?.slice(1) : text;
  return column !== undefined && columns.includes(column) ? { column, descending } : fallback;
}

/** The inverse of `parseSort`. */
export function formatSort({ column, descending }: Sort): string {
  return `${descending ? '-' : ''}${column}`;
}

/** The sort after a click on a column: reverses the same column; another starts with its default direction. */
export function nextSort(sort: Sort, column: string, startsDescending: boolean): Sort {
  return sort.column === column ? { column, descending: !sort.descending } : { column, descending: startsDescending };
}

/** The rows whose text contains every word of the search, ignoring case. */
export function searchRows<Row>(rows: readonly Row[], search: string, textOf: (row: Row) => string): readonly Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The sorted rows; rows of equal value are ordered by key, so that they do not jump. */
export function sortRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => SortValue,
  descending: boolean,
  keyOf: (row: Row) => string,
): readonly Row[] {
  // Computes each value once, not once per comparison.
  const pairs = rows.map((row) => ({ row, value: valueOf(row), key: keyOf(row) }));
  const sign = descending ? -1 : 1;
  pairs.sort((a, b) => sign * compare(a.value, b.value) || compare(a.key, b.key));
  return pairs.map(({ row }) => row);
}

function compare(a: SortValue, b: SortValue): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which rows of a long table exist while it is scrolled: from `first` up to but excluding `end`. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

/** The visible rows and a few around them. */
export function rowsInSight(total: number, scrollTop: number, height: number, rowHeight: number, spare = 12): Span {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const first = Math.max(0, Math.min(top, total - 1) - spare);
  return { first, end: Math.min(total, top + Math.ceil(height / rowHeight) + spare) };
}
