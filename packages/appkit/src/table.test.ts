import { expect, it } from 'vitest';
import { formatTable } from './table.js';

const columns = [
  { heading: 'service', cell: (row: [string, number]) => row[0] },
  { heading: 'n', cell: (row: [string, number]) => row[1] },
];

it('aligns text left and numbers right, without trailing blanks', () => {
  expect(
    formatTable(columns, [
      ['echo', 5],
      ['text-stats', 120],
    ]),
  ).toEqual(['service       n', 'echo          5', 'text-stats  120']);
});

it('treats numbers in text as numbers', () => {
  expect(formatTable([{ heading: 'ms', cell: (ms: string) => ms }], ['1.5', '10.5'])).toEqual(['  ms', ' 1.5', '10.5']);
});

it('shows only the headings if there are no rows', () => {
  expect(formatTable(columns, [])).toEqual(['service  n']);
});
