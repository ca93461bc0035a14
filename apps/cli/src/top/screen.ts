/** The screen of `proj top`: turns an overview, a size and a view into lines. Pure. */
import { printable } from '@proj/appkit';
import { cutTo, fit, widthOf, wrap } from '../http/cells.js';
import type { Choice, LiveTable } from '../live-table.js';
import type { Overview } from '../overview.js';
import { choiceOf } from './state.js';
import type { Extent, View } from './state.js';

/** The size of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Text styles. */
type Look = 'bold' | 'reverse' | 'red' | 'yellow';

const LOOKS: Readonly<Record<Look, string>> = { bold: '1', reverse: '7', red: '31;1', yellow: '33' };
const COLUMN_MIN = 8;
const GAP = 2;

const KEYS = [
  ['q', 'quit'],
  ['s', 'sort by the next column'],
  ['r', 'reverse the order'],
  ['up, down, page up, page down, home, end', 'scroll'],
  ['/', 'show only rows with these words; Enter keeps the filter, Escape clears it'],
  ['?', 'this help; any key closes it'],
] as const;

/** Draws lines of text. */
export class Screen {
  readonly #look: (look: Look, text: string) => string;

  /** Without colour, text can still be bold or reverse. */
  constructor(hasColour: boolean) {
    this.#look = (look, text) =>
      hasColour || look === 'bold' || look === 'reverse' ? `\x1b[${LOOKS[look]}m${text}\x1b[0m` : text;
  }

  /** As many lines as the terminal has rows, none wider than the terminal. */
  draw(overview: Overview, size: Size, view: View): string[] {
    const { columns, rows } = size;
    if (view.isHelp) return fill(this.#help(overview, columns), rows);
    const top = this.#top(overview, size, view);
    const body = rowsInSight(overview, size, view);
    const table = overview.tables[view.table];
    const choice = choiceOf(view, overview.tables);
    return fill(
      [
        ...top,
        ...(table === undefined ? [] : this.#table(table, choice, body.cells, columns)),
        ...blanks(body),
        this.#bottom(body, choice.search, view, columns),
      ],
      rows,
    );
  }

  #top(overview: Overview, size: Size, view: View): string[] {
    const { columns } = size;
    const { headline, figures, tables } = overview;
    return [
      this.#look('bold', cutTo(headline, columns)),
      view.lost === undefined
        ? cutTo(figures, columns)
        : this.#look('yellow', cutTo(`no connection, trying again: ${printable(view.lost)}`, columns)),
      ...untoldInSight(overview, size),
      ...faultsInSight(overview, size).map((line) => this.#look('red', line)),
      this.#tabs(tables, view, columns),
    ];
  }

  #tabs(tables: readonly LiveTable[], view: View, columns: number): string {
    const tabs = tables.map(({ title, rows }, index) => {
      const { total } = rows(choiceOf(view, tables, index));
      return index === view.table ? `[${title} ${total}]` : ` ${title} ${total} `;
    });
    const line = cutTo(tabs.join(' '), columns);
    const chosen = tabs[view.table] ?? '';
    return line.replace(chosen, () => this.#look('reverse', chosen));
  }

  #table({ columns }: LiveTable, choice: Choice, cells: readonly string[][], width: number): string[] {
    const headings = columns.map(({ heading }, index) =>
      index === choice.column ? `${heading}${choice.isDescending ? '\u25bc' : '\u25b2'}` : heading,
    );
    const widths = widthsOf(headings, cells, width);
    const lineOf = (row: readonly string[]) =>
      widths
        .map((each, index) => fit(row[index] ?? '', each, columns[index]?.isFigure))
        .join(' '.repeat(GAP))
        .trimEnd();
    return [this.#look('bold', lineOf(headings)), ...cells.map(lineOf)];
  }

  #bottom({ first, total, cells }: Sight, search: string, view: View, columns: number): string {
    if (view.isTyping) return cutTo(`/${printable(search)}_`, columns);
    const filtered = search === '' ? '' : ` with "${printable(search)}"`;
    const where = total === 0 ? `no rows${filtered}` : `${first + 1} to ${first + cells.length} of ${total}${filtered}`;
    return this.#look('reverse', fit(`${where}   q quit  s sort  r reverse  / filter  arrows  ? help`, columns));
  }

  #help({ tables }: Overview, columns: number): string[] {
    const titles = tables.map(({ title }) => title.toLowerCase()).join(', ');
    const lines = [['left, right', titles], ...KEYS].flatMap(([key, what]) => wrap(`${key}: ${what}`, columns));
    return [this.#look('bold', cutTo('Keys', columns)), ...lines];
  }
}

/** The visible rows of the table. */
interface Sight extends Extent {
  readonly first: number;
  readonly cells: readonly string[][];
}

/** What the keys must know of the screen. */
export function extentOf(overview: Overview, size: Size, view: View): Extent {
  const { tables, total, page } = rowsInSight(overview, size, view);
  return { tables, total, page };
}

function rowsInSight(overview: Overview, size: Size, view: View): Sight {
  const { tables } = overview;
  const { total, cells } = tables[view.table]?.rows(choiceOf(view, tables)) ?? { total: 0, cells: () => [] };
  // Two lines above the sentences; tabs, headings and the last line below them.
  const sentences = untoldInSight(overview, size).length + faultsInSight(overview, size).length;
  const page = Math.max(1, size.rows - sentences - 5);
  const first = Math.max(0, Math.min(view.first, total - page));
  return { tables, total, page, first, cells: cells(first, first + page) };
}

function blanks({ page, cells }: Sight): string[] {
  return Array.from({ length: page - cells.length }, () => '');
}

/** At most a third of the screen. */
function faultsInSight({ faults }: Overview, { columns, rows }: Size): string[] {
  const lines = faults.flatMap((line) => wrap(`! ${line}`, columns));
  const most = mostLines(rows);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), cutTo(`! ${faults.length} faults in all`, columns)];
}

function untoldInSight({ untold }: Overview, { columns, rows }: Size): string[] {
  return untold === undefined ? [] : wrap(untold, columns).slice(0, mostLines(rows));
}

function mostLines(rows: number): number {
  return Math.max(1, Math.floor(rows / 3));
}

/** Widths of the columns that fit, from the left; text columns shrink before figures. */
function widthsOf(headings: readonly string[], cells: readonly string[][], width: number): number[] {
  const widths = headings.map((heading, index) =>
    Math.max(widthOf(heading), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const over = () => widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  for (let excess = over(); excess > 0; excess = over()) {
    const widest = widths.indexOf(Math.max(...widths));
    const from = widths[widest] ?? 0;
    if (from > COLUMN_MIN + 4) widths[widest] = Math.max(COLUMN_MIN + 4, from - excess);
    else if (widths.length > 1) widths.pop();
    else return [width];
  }
  return widths;
}

function fill(lines: readonly string[], rows: number): string[] {
  return Array.from({ length: rows }, (_, index) => lines[index] ?? '');
}
