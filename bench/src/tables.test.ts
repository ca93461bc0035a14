import { expect, test } from 'vitest';
import type { Finding } from './statistics.js';
import { markdownTable, tablesOf } from './tables.js';

function cell(table: string, row: string, column: string, measured: number): Finding {
  return { what: `${table}: ${row}: ${column}`, measured, unit: 'us', cell: { table, row, column } };
}

test('findings fill tables, and missing values stay empty', () => {
  const findings = [cell('t', 'log', 'client', 1), cell('t', 'queue', 'client', 2), cell('t', 'queue', 'server', 3)];
  expect(tablesOf([...findings, { what: 'elsewhere', measured: 1, unit: 'x' }])).toEqual([
    {
      title: 't',
      columns: ['client, us', 'server, us'],
      rows: [
        ['log', '1.000', ''],
        ['queue', '2.000', '3.000'],
      ],
    },
  ]);
});

test('cells are as wide as their columns', () => {
  expect(markdownTable(['', 'p50, us'], [['zmtp', '9.5']])).toBe(
    ['|      | p50, us |', '| ---- | ------: |', '| zmtp |     9.5 |'].join('\n'),
  );
});
