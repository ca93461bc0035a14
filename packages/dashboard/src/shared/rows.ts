/** Search and sort of tables. */

/** How a table is sorted: a column, and the direction. */
export interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

/** What a column sorts by. */
export type SortValue = string | number;

/** Reads `-rate` or `name`; anything else is the fallback. */
export function parseSort(text: string | undefined, columns: readonly string[], fallback: Sort): Sort {
  const descending = text?.startsWith('-') ?? false;
  const column = descending ? text?.slice(1) : text;
  return column !== undefined && columns.includes(column) ? { column, descending } : fallback;
}

/** Writes what `parseSort` reads. */
export function formatSort({ column, descending }: Sort): string {
  return `${descending ? '-' : ''}${column}`;
}

/** The sort after a click on a column: the same column turns round, another starts with what is most wanted of it. */
export function nextSort(sort: Sort, column: string, startsDescending: boolean): Sort {
  return sort.column === column ? { column, descending: !sort.descending } : { column, descending: startsDescending };
}

/** The rows whose text has every word of the search, whatever their case. */
export function searchRows<Row>(rows: readonly Row[], search: string, textOf: (row: Row) => string): readonly Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The rows sorted; rows of equal value stay in order of their keys, so that they do not jump. */
export function sortRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => SortValue,
  descending: boolean,
  keyOf: (row: Row) => string,
): readonly Row[] {
  // Each value is computed once, not once per comparison.
  const pairs = rows.map((row) => ({ row, value: valueOf(row), key: keyOf(row) }));
  const sign = descending ? -1 : 1;
  pairs.sort((a, b) => sign * compare(a.value, b.value) || compare(a.key, b.key));
  return pairs.map(({ row }) => row);
}

function compare(a: SortValue, b: SortValue): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which rows of a long table exist while it is scrolled: from `first` up to `end`, which is not among them. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

/** The rows in sight, and a few around them. */
export function rowsInSight(total: number, scrollTop: number, height: number, rowHeight: number, spare = 12): Span {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const first = Math.max(0, Math.min(top, total - 1) - spare);
  return { first, end: Math.min(total, top + Math.ceil(height / rowHeight) + spare) };
}
