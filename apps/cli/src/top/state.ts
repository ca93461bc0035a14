/** What the user of `proj top` sees, and how keys change it. Pure. */
import type { Choice, Heading, LiveTable } from '../live-table.js';
import type { Key } from './keys.js';

/** Which part of the program is on the screen. */
export interface View {
  /** Index of the table. */
  readonly table: number;
  /** By index of the table; a table without an entry has its initial choice. */
  readonly choices: Readonly<Record<number, Choice>>;
  /** First visible row. */
  readonly first: number;
  /** Typed keys are words of the filter. */
  readonly isTyping: boolean;
  readonly isHelp: boolean;
  /** Why there is no connection; absent while there is one. */
  readonly lost: string | undefined;
}

/** The tables, how many rows the visible one has, and how many of these fit on the screen. */
export interface Extent {
  readonly tables: readonly LiveTable[];
  readonly total: number;
  readonly page: number;
}

/** The initial view. */
export const START: View = {
  table: 0,
  choices: {},
  first: 0,
  isTyping: false,
  isHelp: false,
  lost: undefined,
};

const NO_CHOICE: Choice = { column: 0, isDescending: false, search: '' };

/** The choice of a table. Default: of the visible one. */
export function choiceOf(view: View, tables: readonly LiveTable[], index = view.table): Choice {
  return view.choices[index] ?? tables[index]?.choice ?? NO_CHOICE;
}

/** The view after a key; `undefined` if the key ends the program. */
export function press(view: View, key: Key, extent: Extent): View | undefined {
  if (key === 'interrupt') return undefined;
  if (view.isHelp) return { ...view, isHelp: false };
  const { tables } = extent;
  const choice = choiceOf(view, tables);
  if (typeof key === 'object')
    return view.isTyping
      ? choose(view, { ...choice, search: choice.search + key.character })
      : command(view, key.character, choice, tables[view.table]?.columns ?? []);
  switch (key) {
    case 'enter':
      return { ...view, isTyping: false };
    case 'escape':
      return choose({ ...view, isTyping: false }, { ...choice, search: '' });
    case 'backspace':
      return view.isTyping ? choose(view, { ...choice, search: choice.search.replace(/.$/su, '') }) : view;
    case 'left':
      return turn(view, -1, tables);
    case 'right':
    case 'tab':
      return turn(view, 1, tables);
    default:
      return { ...view, first: scrolled(view.first, key, extent) };
  }
}

function command(view: View, character: string, choice: Choice, columns: readonly Heading[]): View | undefined {
  const next = (choice.column + 1) % columns.length;
  switch (character) {
    case 'q':
      return undefined;
    case '?':
    case 'h':
      return { ...view, isHelp: true };
    case '/':
      return { ...view, isTyping: true };
    case 's':
      return choose(view, { ...choice, column: next, isDescending: columns[next]?.isFigure === true });
    case 'r':
      return choose(view, { ...choice, isDescending: !choice.isDescending });
    default:
      return view;
  }
}

/** A different set of rows starts at the top. */
function choose(view: View, choice: Choice): View {
  return { ...view, choices: { ...view.choices, [view.table]: choice }, first: 0 };
}

function turn(view: View, by: number, { length }: readonly LiveTable[]): View {
  return { ...view, table: (view.table + by + length) % length, first: 0, isTyping: false };
}

function scrolled(
  first: number,
  key: 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end',
  { total, page }: Extent,
): number {
  const last = Math.max(0, total - page);
  const by = { up: -1, down: 1, 'page-up': -page, 'page-down': page, home: -Infinity, end: Infinity }[key];
  return Math.max(0, Math.min(last, Math.min(last, first) + by));
}
