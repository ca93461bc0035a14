/** A table with search and sort, of any length: only the visible rows exist. */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { replaceQuery } from '../live/location.js';
import { count } from '../shared/format.js';
import { formatSort, nextSort, parseSort, rowsInSight, searchRows, sortRows } from '../shared/rows.js';
import type { Sort, SortValue } from '../shared/rows.js';
import { useNarrow, useRoute } from '../live/context.js';

const ROW_HEIGHT = 34;

/** A column. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly value: (row: Row) => SortValue;
  /** The displayed content; default: the value. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** A numeric column: right-aligned, and sorted largest first. */
  readonly isFigure?: boolean;
  /** Share of the width. */
  readonly width?: number;
  /** Hidden in a small window. */
  readonly isExtra?: boolean;
}

/** The content of a table. */
export interface TableProps<Row> {
  /** The name of the rows for screen readers: "Workers". */
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly sort: Sort;
  /** The text if there are no rows. */
  readonly none: string;
  /** The text that a search looks at. Without it there is no search. */
  readonly textOf?: (row: Row) => string;
  /** More controls beside the search. */
  readonly controls?: ComponentChildren;
  /** Whether search and sort are part of the view's link; for the main table of a view. */
  readonly isMain?: boolean;
}

/** The table. */
export function Table<Row>(props: TableProps<Row>): VNode {
  const { caption, rows, columns, keyOf, none, textOf, isMain = false } = props;
  const route = useRoute();
  const [own, setOwn] = useState<Readonly<Record<string, string | undefined>>>({});
  const query = isMain ? route.query : own;
  const change = isMain ? replaceQuery : (more: Readonly<Record<string, string>>) => setOwn({ ...own, ...more });
  const search = query['q'] ?? '';
  const ids = columns.map(({ id }) => id);
  const sort = parseSort(query['sort'], ids, props.sort);
  const column = columns.find(({ id }) => id === sort.column);
  const shown = useMemo(() => {
    const found = textOf === undefined ? rows : searchRows(rows, search, textOf);
    return column === undefined ? found : sortRows(found, column.value, sort.descending, keyOf);
  }, [rows, search, sort.column, sort.descending]);

  return (
    <div class={isMain ? 'table main' : 'table'}>
      {(textOf !== undefined || props.controls !== undefined) && (
        <div class="controls">
          {textOf !== undefined && (
            <input
              type="search"
              class="search"
              aria-label={`Search ${caption.toLowerCase()}`}
              placeholder="Search"
              value={search}
              onInput={(event) => change({ q: event.currentTarget.value })}
            />
          )}
          {props.controls}
          <span class="total" role="status">
            {shown.length === rows.length ? count(rows.length) : `${count(shown.length)} of ${count(rows.length)}`}
          </span>
        </div>
      )}
      {shown.length === 0 ? (
        <p class="none">{rows.length === 0 ? none : 'Nothing matches the search.'}</p>
      ) : (
        <Scroller
          caption={caption}
          rows={shown}
          columns={columns}
          keyOf={keyOf}
          sort={sort}
          onSort={(id, isFigure) => change({ sort: formatSort(nextSort(sort, id, isFigure)) })}
        />
      )}
    </div>
  );
}

interface ScrollerProps<Row> extends Pick<TableProps<Row>, 'caption' | 'rows' | 'columns' | 'keyOf' | 'sort'> {
  readonly onSort: (column: string, startsDescending: boolean) => void;
}

function Scroller<Row>({ caption, rows, columns: all, keyOf, sort, onSort }: ScrollerProps<Row>): VNode {
  const isNarrow = useNarrow();
  const columns = isNarrow ? all.filter(({ isExtra = false }) => !isExtra) : all;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const { first, end } = rowsInSight(rows.length, view.top, view.height, ROW_HEIGHT);
  const widths = columns.reduce((sum, { width = 1 }) => sum + width, 0);

  return (
    <div class="scroller" ref={box} tabIndex={0} role="region" aria-label={caption}>
      <table aria-rowcount={rows.length + 1}>
        <caption class="unseen">{caption}</caption>
        <colgroup>
          {columns.map(({ id, width = 1 }) => (
            <col key={id} style={{ width: `${(100 * width) / widths}%` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ id, title, isFigure = false }) => (
              <th
                key={id}
                scope="col"
                class={isFigure ? 'number' : ''}
                aria-sort={id === sort.column ? (sort.descending ? 'descending' : 'ascending') : undefined}
              >
                <button type="button" onClick={() => onSort(id, isFigure)}>
                  <span>{title}</span>
                  <span aria-hidden="true" class="arrow">
                    {id === sort.column ? (sort.descending ? '▾' : '▴') : ''}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} columns={columns.length} />
          {rows.slice(first, end).map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={first + at + 2}>
              {columns.map(({ id, value, cell, isFigure = false }) => (
                <td key={id} class={isFigure ? 'number' : ''}>
                  {cell === undefined ? value(row) : cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Gap rows={rows.length - end} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** Fills the space of rows that are out of sight. */
function Gap({ rows, columns }: { rows: number; columns: number }): VNode | null {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}
