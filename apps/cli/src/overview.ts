/** A program at one moment, ready to be drawn, whatever the source. Pure. */
import { formatTable } from '@proj/appkit';
import type { LiveTable } from './live-table.js';

/** What `proj top` draws and `proj status --http` prints. Its texts are safe for a terminal. */
export interface Overview {
  /** Which program it is. */
  readonly headline: string;
  /** Its throughput, and the resources it uses, in one line. */
  readonly figures: string;
  /** Oldest first, each as one sentence. */
  readonly faults: readonly string[];
  /** One sentence about what the source does not report. Absent if it reports everything, including faults. */
  readonly untold?: string;
  readonly tables: readonly LiveTable[];
}

/** The whole text. Tables without rows are left out. */
export function linesOf({ headline, figures, faults, untold = 'no faults', tables }: Overview): string[] {
  return [
    headline,
    figures,
    ...(faults.length === 0 ? [untold] : faults.map((line) => `FAULT ${line}`)),
    ...tables.flatMap(({ columns, choice, rows }) => {
      const { total, cells } = rows(choice);
      if (total === 0) return [];
      const cellOf = columns.map(({ heading }, index) => ({ heading, cell: (row: string[]) => row[index] ?? '' }));
      return ['', ...formatTable(cellOf, cells(0, total))];
    }),
  ];
}
