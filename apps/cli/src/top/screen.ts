/** The screen of `proj top`: turns a model, a size and a view into lines. Pure. */
import { printable } from '@proj/appkit';
import type { Model } from '@proj/dashboard/shared';
import { cutTo, fit, widthOf, wrap } from '../http/cells.js';
import { faultLines, figuresOf, headline } from '../http/overview.js';
import { TABLES } from '../http/tables.js';
import type { Choice, LiveTable } from '../http/tables.js';
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
  ['left, right', 'services, queues, workers, clients, schedules'],
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
  draw(model: Model, size: Size, view: View): string[] {
    const { columns, rows } = size;
    if (view.isHelp) return fill(this.#help(columns), rows);
    const top = this.#top(model, size, view);
    const body = rowsInSight(model, size, view);
    const table = TABLES[view.table] ?? TABLES[0];
    return fill(
      [
        ...top,
        ...this.#table(table, choiceOf(view), body.cells, columns),
        ...blanks(body),
        this.#bottom(body, view, columns),
      ],
      rows,
    );
  }

  #top(model: Model, size: Size, view: View): string[] {
    const { columns } = size;
    const faults = faultsInSight(model, size);
    return [
      this.#look('bold', cutTo(headline(model), columns)),
      view.lost === undefined
        ? cutTo(figuresOf(model), columns)
        : this.#look('yellow', cutTo(`no connection, trying again: ${printable(view.lost)}`, columns)),
      ...faults.map((line) => this.#look('red', line)),
      this.#tabs(model, view, columns),
    ];
  }

  #tabs(model: Model, view: View, columns: number): string {
    const tabs = TABLES.map(({ title, rows }, index) => {
      const { total } = rows(model, view.choices[index] ?? START_CHOICE);
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

  #bottom({ first, total, cells }: Sight, view: View, columns: number): string {
    const { search } = choiceOf(view);
    if (view.isTyping) return cutTo(`/${printable(search)}_`, columns);
    const filtered = search === '' ? '' : ` with "${printable(search)}"`;
    const where = total === 0 ? `no rows${filtered}` : `${first + 1} to ${first + cells.length} of ${total}${filtered}`;
    return this.#look('reverse', fit(`${where}   q quit  s sort  r reverse  / filter  arrows  ? help`, columns));
  }

  #help(columns: number): string[] {
    const lines = KEYS.flatMap(([key, what]) => wrap(`${key}: ${what}`, columns));
    return [this.#look('bold', cutTo('Keys', columns)), ...lines];
  }
}

const START_CHOICE: Choice = { column: 0, isDescending: false, search: '' };

/** The visible rows of the table. */
interface Sight extends Extent {
  readonly first: number;
  readonly cells: readonly string[][];
}

/** How much of the table is visible, which the scrolling keys must know. */
export function extentOf(model: Model, size: Size, view: View): Extent {
  const { total, page } = rowsInSight(model, size, view);
  return { total, page };
}

function rowsInSight(model: Model, size: Size, view: View): Sight {
  const table = TABLES[view.table] ?? TABLES[0];
  const { total, cells } = table.rows(model, choiceOf(view));
  // Two lines above the faults; tabs, headings and the last line below them.
  const page = Math.max(1, size.rows - faultsInSight(model, size).length - 5);
  const first = Math.max(0, Math.min(view.first, total - page));
  return { total, page, first, cells: cells(first, first + page) };
}

function blanks({ page, cells }: Sight): string[] {
  return Array.from({ length: page - cells.length }, () => '');
}

/** At most a third of the screen. */
function faultsInSight(model: Model, { columns, rows }: Size): string[] {
  const lines = faultLines(model).flatMap((line) => wrap(`! ${line}`, columns));
  const most = Math.max(1, Math.floor(rows / 3));
  if (lines.length <= most) return lines;
  const count = Object.keys(model.faults).length;
  return [...lines.slice(0, most - 1), cutTo(`! ${count} faults in all`, columns)];
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
