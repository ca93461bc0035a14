/** What the user of `proj top` sees, and how keys change it. Pure. */
import { TABLES } from '../http/tables.js';
import type { Choice } from '../http/tables.js';
import type { Key } from './keys.js';

/** Which part of the program is on the screen. */
export interface View {
  /** Index of the table. */
  readonly table: number;
  /** One for each table. */
  readonly choices: readonly Choice[];
  /** First visible row. */
  readonly first: number;
  /** Typed keys are words of the filter. */
  readonly isTyping: boolean;
  readonly isHelp: boolean;
  /** Why there is no connection; absent while there is one. */
  readonly lost: string | undefined;
}

/** How many rows the table has, and how many of them are visible. */
export interface Extent {
  readonly total: number;
  readonly page: number;
}

/** The initial view. */
export const START: View = {
  table: 0,
  choices: TABLES.map(({ choice }) => choice),
  first: 0,
  isTyping: false,
  isHelp: false,
  lost: undefined,
};

/** The choice of the visible table. */
export function choiceOf({ choices, table }: View): Choice {
  return choices[table] ?? START.choices[0] ?? { column: 0, isDescending: false, search: '' };
}

/** The view after a key; `undefined` if the key ends the program. */
export function press(view: View, key: Key, extent: Extent): View | undefined {
  if (key === 'interrupt') return undefined;
  if (view.isHelp) return { ...view, isHelp: false };
  if (typeof key === 'object') return view.isTyping ? type(view, key.character) : command(view, key.character);
  switch (key) {
    case 'enter':
      return { ...view, isTyping: false };
    case 'escape':
      return choose({ ...view, isTyping: false }, { search: '' });
    case 'backspace':
      return view.isTyping ? choose(view, { search: choiceOf(view).search.replace(/.$/su, '') }) : view;
    case 'left':
      return turn(view, -1);
    case 'right':
    case 'tab':
      return turn(view, 1);
    default:
      return { ...view, first: scrolled(view.first, key, extent) };
  }
}

function command(view: View, character: string): View | undefined {
  const { column, isDescending } = choiceOf(view);
  const columns = TABLES[view.table]?.columns ?? [];
  const next = (column + 1) % columns.length;
  switch (character) {
    case 'q':
      return undefined;
    case '?':
    case 'h':
      return { ...view, isHelp: true };
    case '/':
      return { ...view, isTyping: true };
    case 's':
      return choose(view, { column: next, isDescending: columns[next]?.isFigure === true });
    case 'r':
      return choose(view, { isDescending: !isDescending });
    default:
      return view;
  }
}

function type(view: View, character: string): View {
  return choose(view, { search: choiceOf(view).search + character });
}

/** A different set of rows starts at the top. */
function choose(view: View, choice: Partial<Choice>): View {
  const choices = view.choices.map((each, index) => (index === view.table ? { ...each, ...choice } : each));
  return { ...view, choices, first: 0 };
}

function turn(view: View, by: number): View {
  return { ...view, table: (view.table + by + TABLES.length) % TABLES.length, first: 0, isTyping: false };
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
