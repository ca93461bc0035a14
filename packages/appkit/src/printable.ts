/** Text from somebody else, made safe for a terminal: nothing in it can control the terminal. Pure. */

/** Replaces a character that must not be printed. */
const HIDDEN = '\u00b7';

/** The text without control characters, invisible characters, and characters that change the writing direction. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, HIDDEN);
}
