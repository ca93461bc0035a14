/** Search, sort, and the visible rows. */
import { describe, expect, it } from 'vitest';
import { formatSort, nextSort, parseSort, rowsInSight, searchRows, sortRows } from './rows.js';

const FALLBACK = { column: 'name', descending: false };

describe('rows', () => {
  it('finds rows that contain every word, in upper or lower case', () => {
    const rows = ['mdp billing', 'mdp Mail', 'pzq mail'];
    expect(searchRows(rows, ' MAIL  mdp', String)).toEqual(['mdp Mail']);
    expect(searchRows(rows, '  ', String)).toBe(rows);
  });

  it('sorts either way; equal rows keep the order of their keys', () => {
    const rows = [
      { key: 'c', value: 1 },
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ];
    const keys = (descending: boolean) =>
      sortRows(
        rows,
        ({ value }) => value,
        descending,
        ({ key }) => key,
      ).map(({ key }) => key);
    expect(keys(false)).toEqual(['a', 'c', 'b']);
    expect(keys(true)).toEqual(['b', 'a', 'c']);
  });

  it('reads the sort order of a link; unknown columns fall back to the default', () => {
    expect(parseSort('-rate', ['rate'], FALLBACK)).toEqual({ column: 'rate', descending: true });
    expect(parseSort('size', ['rate'], FALLBACK)).toBe(FALLBACK);
    expect(parseSort(undefined, ['rate'], FALLBACK)).toBe(FALLBACK);
    expect(formatSort({ column: 'rate', descending: true })).toBe('-rate');
  });

  it('reverses the order of a column that is clicked twice', () => {
    expect(nextSort(FALLBACK, 'name', false)).toEqual({ column: 'name', descending: true });
    expect(nextSort(FALLBACK, 'rate', true)).toEqual({ column: 'rate', descending: true });
  });

  it.each([
    [0, { first: 0, end: 22 }],
    [1000, { first: 88, end: 122 }],
    [99_999, { first: 987, end: 1000 }],
    [-50, { first: 0, end: 22 }],
  ])('scrolled to %d, it shows the rows %j of 1000', (scrollTop, span) => {
    expect(rowsInSight(1000, scrollTop, 100, 10)).toEqual(span);
  });

  it('shows no rows of an empty table', () => expect(rowsInSight(0, 0, 100, 10)).toEqual({ first: 0, end: 0 }));
});
