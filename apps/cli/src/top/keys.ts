/** Turns typed characters into the keys of `proj top`. Pure. */

/** A key with a name, or a character. */
export type Key =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'tab'
  | 'interrupt'
  | { readonly character: string };

const SEQUENCES: Readonly<Record<string, Key>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[5~': 'page-up',
  '[6~': 'page-down',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
};

const CONTROLS: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'interrupt',
  '\x1b': 'escape',
};

// eslint-disable-next-line no-control-regex -- a terminal sends them
const KEY = /\x1b(\[[0-9;]*[A-Za-z~]|O[A-Z])|[^]/gu;

/** The keys in the bytes that the terminal sent. Keys without a meaning are left out. */
export function keysOf(typed: string): Key[] {
  return [...typed.matchAll(KEY)].flatMap(([text, sequence]): Key[] => {
    const key = sequence === undefined ? CONTROLS[text] : SEQUENCES[sequence];
    if (key !== undefined) return [key];
    return sequence !== undefined || /\p{C}/u.test(text) ? [] : [{ character: text }];
  });
}
